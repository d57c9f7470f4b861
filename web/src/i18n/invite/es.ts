/** Spanish: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: 'Escanea este código QR con el móvil',
  screenSteps:
    'Abre la cámara de un móvil y apunta al código QR. Después, elige una sala en el móvil. Se abrirá en esta pantalla.',
  screenQr: 'Código QR para invitar a esta pantalla',
  screenExpired: 'El código QR ha caducado.',
  newCode: 'Mostrar un código nuevo',
  answerTitle: 'Invitar a otra pantalla',
  answerHint:
    'Otra pantalla quiere unirse a una de tus salas. Elige la sala que se abrirá en ella. La pantalla mostrará su texto y sus archivos, así que continúa solo si has escaneado el código QR de una pantalla de confianza.',
  noRooms: 'No hay salas recientes en este dispositivo. Crea una nueva.',
  waitingForScreen: 'Esperando a la pantalla…',
  answerAccepted: 'La pantalla está en la sala {code}',
  openHere: 'Abrir la sala aquí',
  answerInvalid: 'Esta invitación ya no es válida',
  answerInvalidHint: 'Muestra un código nuevo en la pantalla y escanéalo.',
  answerDamaged: 'Este código QR está incompleto',
};
