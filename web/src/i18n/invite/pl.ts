/** Polish: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: 'Zeskanuj ten kod QR telefonem',
  screenSteps:
    'Otwórz aparat w telefonie i skieruj go na kod QR. Następnie wybierz pokój na telefonie. Otworzy się on na tym ekranie.',
  screenQr: 'Kod QR do zaproszenia tego ekranu',
  screenExpired: 'Kod QR wygasł.',
  newCode: 'Pokaż nowy kod',
  answerTitle: 'Zaproś inny ekran',
  answerHint:
    'Inny ekran chce dołączyć do jednego z Twoich pokojów. Wybierz pokój, który ma się na nim otworzyć. Ekran pokaże jego tekst i pliki, więc kontynuuj tylko wtedy, gdy kod QR pochodzi z ekranu, któremu ufasz.',
  noRooms: 'Brak ostatnich pokojów na tym urządzeniu. Utwórz nowy.',
  waitingForScreen: 'Oczekiwanie na ekran…',
  answerAccepted: 'Ekran jest w pokoju {code}',
  openHere: 'Otwórz pokój tutaj',
  answerInvalid: 'To zaproszenie jest już nieważne',
  answerInvalidHint: 'Wyświetl na ekranie nowy kod i zeskanuj go.',
  answerDamaged: 'Ten kod QR jest niekompletny',
};
