/** Hindi: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: 'इस QR कोड को अपने फ़ोन से स्कैन करें',
  screenSteps: 'फ़ोन का कैमरा ऐप खोलें और उसे QR कोड की ओर रखें। फिर फ़ोन पर कोई रूम चुनें। वह इस स्क्रीन पर खुल जाएगा।',
  screenQr: 'इस स्क्रीन को न्योता देने का QR कोड',
  screenExpired: 'QR कोड की समय-सीमा खत्म हो गई है।',
  newCode: 'नया कोड दिखाएँ',
  answerTitle: 'दूसरी स्क्रीन को न्योता दें',
  answerHint:
    'एक दूसरी स्क्रीन आपके किसी रूम से जुड़ना चाहती है। वह रूम चुनें जो वहाँ खुलना चाहिए। स्क्रीन पर उसका टेक्स्ट और फ़ाइलें दिखेंगी, इसलिए तभी आगे बढ़ें जब आपने QR कोड किसी भरोसेमंद स्क्रीन से स्कैन किया हो।',
  noRooms: 'इस डिवाइस पर हाल का कोई रूम नहीं है। नया रूम बनाएँ।',
  waitingForScreen: 'स्क्रीन का इंतज़ार है…',
  answerAccepted: 'स्क्रीन अब रूम {code} में है',
  openHere: 'रूम यहाँ खोलें',
  answerInvalid: 'यह न्योता अब मान्य नहीं है',
  answerInvalidHint: 'स्क्रीन पर नया कोड दिखाएँ और उसे स्कैन करें।',
  answerDamaged: 'यह QR कोड अधूरा है',
};
