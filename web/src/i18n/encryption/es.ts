/** Spanish: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'Introduce la clave de la sala {code}',
  keyHint: 'Esta sala está cifrada. Pide la clave, o un enlace con la clave, a quien creó la sala.',
  keyHintOwn:
    'Creaste esta sala en este dispositivo, pero no guardaste su clave. Búscala en otro dispositivo de la sala o en el enlace que compartiste.',
  keyLabel: 'Clave o enlace de la sala',
  openRoom: 'Abrir sala',
  keyChecking: 'Comprobando la clave…',
  keyWrong: 'Clave incorrecta. Es la clave de otra sala.',
  keyWrongTriesLeft: {
    one: 'Clave incorrecta. Te queda {n} intento.',
    other: 'Clave incorrecta. Te quedan {n} intentos.',
  },
  keyMistyped: 'La clave tiene una errata. Compárala con la original.',
  keyMalformed: 'Una clave tiene 16 letras y números, como H4T9-WZ3B-NQ6Y-RC88.',
  keyLocked: 'Demasiadas claves incorrectas. Inténtalo de nuevo en {time}.',
  encrypted: 'Esta sala está cifrada',
  encryptedWhat:
    'El texto, los archivos y los nombres se cifran en tus dispositivos. El servidor los guarda, pero no puede leerlos.',
  encryptedWho:
    'Quien tenga la clave puede leer y cambiar todo lo que hay aquí. Si pierdes la clave, nadie puede recuperarla.',
  encryptedLimits:
    'El servidor sigue viendo tamaños, horas y direcciones de red. Además, tu navegador ejecuta la página que envía este servidor. Si no confías en él para eso, usa la línea de comandos.',
  roomKey: 'Clave de la sala',
  copyKey: 'Copiar clave',
  keepKey: 'Recordar la clave en este dispositivo',
  keepKeyHint: 'Si no, necesitarás la clave de nuevo después de cerrar esta pestaña.',
  keepNewKeyHint: 'Desactívalo en un ordenador compartido. Necesitarás la clave para volver a abrir la sala.',
  leaveKeyTitle: '¿Salir sin la clave?',
  leaveKeyHint:
    'No hay ningún otro dispositivo en esta sala y este dispositivo no recuerda su clave. Sin la clave o un enlace con ella, nadie podrá volver a abrir la sala.',
  leaveKeyKeep: 'Recordar clave y salir',
  draftKept: 'Los cambios que no se enviaron siguen en este dispositivo.',
  linkHasKey: 'El enlace y el código QR contienen la clave. El navegador que abre el enlace lo guarda en su historial.',
  typeKey: 'Escribir la clave',
  typeKeyHint:
    'En un ordenador compartido, abre {host} e introduce el código y después la clave. Así el historial no contiene la clave.',
  inviteKeyHint: 'Escanea el código QR o abre {host} en el otro dispositivo e introduce el código y la clave.',
  keyAttempts: {
    one: 'Alguien ha introducido una clave incorrecta.',
    other: 'Alguien ha introducido una clave incorrecta {n} veces.',
  },
  fileChanged: 'Este archivo ha cambiado desde que empezó la subida. Vuelve a añadirlo.',
  fileDamaged: 'Este archivo está dañado y no se puede descifrar.',
  fileInArchiveDamaged: '{name} está dañado y no se puede descifrar.',
  nothingSaved: 'No se ha guardado nada.',
  decrypting: 'Descifrando…',
  cancelDownload: 'Cancelar la descarga de {name}',
  tooLargeToSave:
    'Este navegador no puede guardar archivos cifrados de más de {size}. Usa Chrome o Edge en un ordenador, o la línea de comandos.',
  tooLargeToShow: 'Este archivo es demasiado grande para mostrarlo aquí. Descárgalo.',
  rollbackTitle: 'El servidor ha enviado un texto anterior',
  rollbackHint:
    'Este dispositivo ya ha visto una versión más reciente. Quizá se haya restaurado una copia de seguridad del servidor, o alguien te oculta cambios.',
  forkTitle: 'El servidor ha enviado un texto distinto',
  forkHint:
    'No continúa la versión que ha visto este dispositivo. Quizá alguien haya sustituido los cambios de esta sala.',
  wordsMissing: 'Faltan en el texto palabras que has escrito. Alguien las ha eliminado o el servidor las ha perdido.',
  damagedTitle: 'Los datos de esta sala están dañados',
  damagedHint:
    'No se han podido descifrar. Se han modificado en el servidor o se cifraron con otra clave. No se ha sobrescrito nada.',
  notEncryptedTitle: 'Esta sala no está cifrada',
  notEncryptedHint:
    'Esta sala debería estar cifrada, pero el servidor indica que no lo está. Puede que alguien intente leer lo que escribes. No se ha enviado nada. Revisa el código y la dirección de esta página.',
  openAnyway: 'Abrir de todos modos',
  openAnywayHint: 'Copia antes tu texto. Se perderán los cambios no enviados.',
};
