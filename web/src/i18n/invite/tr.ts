/** Turkish: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: 'Bu QR kodunu telefonunuzla tarayın',
  screenSteps:
    'Telefonda kamera uygulamasını açıp QR koduna doğrultun. Ardından telefonda bir oda seçin. Oda bu ekranda açılır.',
  screenQr: 'Bu ekranı davet etmek için QR kodu',
  screenExpired: 'QR kodunun süresi doldu.',
  newCode: 'Yeni kod göster',
  answerTitle: 'Başka bir ekranı davet et',
  answerHint:
    'Başka bir ekran odalarınızdan birine katılmak istiyor. Orada açılacak odayı seçin. Ekran odanın metnini ve dosyalarını gösterecek; yalnızca QR kodunu güvendiğiniz bir ekrandan taradıysanız devam edin.',
  noRooms: 'Bu cihazda son oda yok. Yeni bir oda oluşturun.',
  waitingForScreen: 'Ekran bekleniyor…',
  answerAccepted: 'Ekran {code} odasında',
  openHere: 'Odayı burada aç',
  answerInvalid: 'Bu davet artık geçerli değil',
  answerInvalidHint: 'Ekranda yeni bir kod gösterip tarayın.',
  answerDamaged: 'Bu QR kodu eksik',
};
