/** Portuguese: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'Digite a chave da sala {code}',
  keyHint: 'Esta sala é criptografada. Peça a chave, ou um link com a chave, a quem criou a sala.',
  keyHintOwn:
    'Você criou esta sala neste dispositivo, mas não guardou a chave. Procure-a em outro dispositivo na sala ou no link que você compartilhou.',
  keyLabel: 'Chave ou link da sala',
  openRoom: 'Abrir sala',
  keyChecking: 'Verificando a chave…',
  keyWrong: 'Chave incorreta. Ela é de outra sala.',
  keyWrongTriesLeft: { one: 'Chave incorreta. Resta {n} tentativa.', other: 'Chave incorreta. Restam {n} tentativas.' },
  keyMistyped: 'A chave tem um erro de digitação. Compare-a com a original.',
  keyMalformed: 'Uma chave tem 16 letras e números, como H4T9-WZ3B-NQ6Y-RC88.',
  keyLocked: 'Muitas chaves incorretas. Tente novamente em {time}.',
  encrypted: 'Esta sala é criptografada',
  encryptedWhat:
    'O texto, os arquivos e os nomes são criptografados nos seus dispositivos. O servidor os guarda, mas não consegue ler.',
  encryptedWho: 'Quem tem a chave pode ler e alterar tudo aqui. Ninguém consegue recuperar uma chave perdida.',
  encryptedLimits:
    'O servidor ainda vê tamanhos, horários e endereços de rede. Além disso, seu navegador executa a página que este servidor envia. Se você não confia nele para isso, use a linha de comando.',
  roomKey: 'Chave da sala',
  copyKey: 'Copiar chave',
  keepKey: 'Lembrar a chave neste dispositivo',
  keepKeyHint: 'Caso contrário, você precisará da chave de novo depois de fechar esta aba.',
  keepNewKeyHint: 'Desative em um computador compartilhado. Você precisará da chave para abrir a sala de novo.',
  leaveKeyTitle: 'Sair sem a chave?',
  leaveKeyHint:
    'Não há outro dispositivo nesta sala, e este dispositivo não lembra a chave. Sem a chave ou um link com ela, ninguém poderá abrir a sala de novo.',
  leaveKeyKeep: 'Lembrar chave e sair',
  draftKept: 'As alterações que não foram enviadas ainda estão neste dispositivo.',
  linkHasKey: 'O link e o QR code contêm a chave. O navegador que abre o link o guarda no histórico.',
  typeKey: 'Digitar a chave',
  typeKeyHint:
    'Em um computador compartilhado, abra {host} e digite o código e depois a chave. Assim o histórico não contém a chave.',
  inviteKeyHint: 'Leia o QR code ou abra {host} no outro dispositivo e digite o código e a chave.',
  keyAttempts: { one: 'Alguém digitou uma chave incorreta.', other: 'Alguém digitou uma chave incorreta {n} vezes.' },
  fileChanged: 'Este arquivo foi alterado depois que o envio começou. Adicione-o novamente.',
  fileDamaged: 'Este arquivo está danificado e não pode ser descriptografado.',
  fileInArchiveDamaged: '{name} está danificado e não pode ser descriptografado.',
  nothingSaved: 'Nada foi salvo.',
  decrypting: 'Descriptografando…',
  cancelDownload: 'Cancelar download de {name}',
  tooLargeToSave:
    'Este navegador não consegue salvar arquivos criptografados com mais de {size}. Use o Chrome ou o Edge em um computador, ou a linha de comando.',
  tooLargeToShow: 'Este arquivo é grande demais para ser mostrado aqui. Baixe-o.',
  rollbackTitle: 'O servidor enviou um texto mais antigo',
  rollbackHint:
    'Este dispositivo já viu uma versão mais recente. Talvez o servidor tenha sido restaurado de um backup, ou alguém esteja escondendo alterações de você.',
  forkTitle: 'O servidor enviou um texto diferente',
  forkHint:
    'Ele não continua a versão que este dispositivo viu. Talvez alguém tenha substituído as alterações desta sala.',
  wordsMissing: 'Palavras que você escreveu não estão mais no texto. Alguém as removeu ou o servidor as perdeu.',
  damagedTitle: 'Os dados desta sala estão danificados',
  damagedHint:
    'Não foi possível descriptografá-los. Eles foram alterados no servidor ou criptografados com outra chave. Nada foi sobrescrito.',
  notEncryptedTitle: 'Esta sala não é criptografada',
  notEncryptedHint:
    'Esta sala deveria ser criptografada, mas o servidor informa que não é. Talvez alguém esteja tentando ler o que você escreve. Nada foi enviado. Confira o código e o endereço desta página.',
  openAnyway: 'Abrir mesmo assim',
  openAnywayHint: 'Copie seu texto antes. As alterações não enviadas serão perdidas.',
};
