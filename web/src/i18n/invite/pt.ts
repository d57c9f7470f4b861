/** Portuguese: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: 'Leia este QR code com o celular',
  screenSteps:
    'Abra a câmera de um celular e aponte para o QR code. Depois, escolha uma sala no celular. Ela abre nesta tela.',
  screenQr: 'QR code para convidar esta tela',
  screenExpired: 'O QR code expirou.',
  newCode: 'Mostrar um novo código',
  answerTitle: 'Convidar outra tela',
  answerHint:
    'Outra tela quer entrar em uma das suas salas. Escolha a sala que será aberta nela. A tela mostrará o texto e os arquivos, então continue somente se você leu o QR code de uma tela em que confia.',
  noRooms: 'Nenhuma sala recente neste dispositivo. Crie uma nova.',
  waitingForScreen: 'Aguardando a tela…',
  answerAccepted: 'A tela está na sala {code}',
  openHere: 'Abrir a sala aqui',
  answerInvalid: 'Este convite não é mais válido',
  answerInvalidHint: 'Mostre um novo código na tela e leia-o.',
  answerDamaged: 'Este QR code está incompleto',
};
