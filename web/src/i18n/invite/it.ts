/** Italian: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: 'Scansiona questo codice QR con il telefono',
  screenSteps:
    'Apri la fotocamera di un telefono e inquadra il codice QR. Poi scegli una stanza sul telefono. Si aprirà su questo schermo.',
  screenQr: 'Codice QR per invitare questo schermo',
  screenExpired: 'Il codice QR è scaduto.',
  newCode: 'Mostra un nuovo codice',
  answerTitle: 'Invita un altro schermo',
  answerHint:
    'Un altro schermo vuole entrare in una delle tue stanze. Scegli la stanza da aprire. Lo schermo mostrerà il testo e i file, quindi continua solo se hai scansionato il codice QR da uno schermo affidabile.',
  noRooms: 'Nessuna stanza recente su questo dispositivo. Creane una nuova.',
  waitingForScreen: 'In attesa dello schermo…',
  answerAccepted: 'Lo schermo è nella stanza {code}',
  openHere: 'Apri qui la stanza',
  answerInvalid: 'Questo invito non è più valido',
  answerInvalidHint: 'Mostra un nuovo codice sullo schermo e scansionalo.',
  answerDamaged: 'Questo codice QR è incompleto',
};
