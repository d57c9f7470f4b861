/** Polish: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'Wpisz klucz do pokoju {code}',
  keyHint: 'Ten pokój jest zaszyfrowany. Poproś o klucz lub link z kluczem osobę, która go utworzyła.',
  keyHintOwn:
    'Ten pokój został utworzony na tym urządzeniu, ale jego klucz nie został zapamiętany. Znajdziesz go na innym urządzeniu w pokoju albo w udostępnionym linku.',
  keyLabel: 'Klucz lub link do pokoju',
  openRoom: 'Otwórz pokój',
  keyChecking: 'Sprawdzanie klucza…',
  keyWrong: 'Błędny klucz. To klucz do innego pokoju.',
  keyWrongTriesLeft: {
    one: 'Błędny klucz. Pozostała {n} próba.',
    few: 'Błędny klucz. Pozostały {n} próby.',
    many: 'Błędny klucz. Pozostało {n} prób.',
    other: 'Błędny klucz. Pozostało {n} próby.',
  },
  keyMistyped: 'W kluczu jest literówka. Porównaj go z oryginałem.',
  keyMalformed: 'Klucz ma 16 liter i cyfr, na przykład H4T9-WZ3B-NQ6Y-RC88.',
  keyLocked: 'Zbyt wiele błędnych kluczy. Do następnej próby: {time}.',
  encrypted: 'Ten pokój jest zaszyfrowany',
  encryptedWhat:
    'Tekst, pliki i nazwy są szyfrowane na Twoich urządzeniach. Serwer je przechowuje, ale nie może ich odczytać.',
  encryptedWho: 'Każdy, kto ma klucz, może tu wszystko czytać i zmieniać. Utraconego klucza nikt nie odzyska.',
  encryptedLimits:
    'Serwer nadal widzi rozmiary, czas i adresy sieciowe. Przeglądarka uruchamia też stronę wysłaną przez ten serwer. Jeśli nie ufasz mu w tej kwestii, użyj wiersza poleceń.',
  roomKey: 'Klucz pokoju',
  copyKey: 'Kopiuj klucz',
  keepKey: 'Zapamiętaj klucz na tym urządzeniu',
  keepKeyHint: 'W przeciwnym razie po zamknięciu tej karty klucz będzie znów potrzebny.',
  keepNewKeyHint: 'Wyłącz to na wspólnym komputerze. Do ponownego otwarcia pokoju będzie wtedy potrzebny klucz.',
  leaveKeyTitle: 'Wyjść bez klucza?',
  leaveKeyHint:
    'W tym pokoju nie ma innego urządzenia, a to urządzenie nie pamięta klucza. Bez klucza lub linku z kluczem nikt nie otworzy ponownie pokoju.',
  leaveKeyKeep: 'Zapamiętaj i opuść',
  draftKept: 'Niewysłane zmiany są nadal na tym urządzeniu.',
  linkHasKey: 'Link i kod QR zawierają klucz. Przeglądarka, która otwiera link, zachowuje go w historii.',
  typeKey: 'Wpisz klucz zamiast tego',
  typeKeyHint:
    'Na wspólnym komputerze otwórz {host} i wpisz kod, a potem klucz. Historia nie będzie wtedy zawierać klucza.',
  inviteKeyHint: 'Zeskanuj kod QR albo otwórz {host} na drugim urządzeniu i wpisz kod oraz klucz.',
  keyAttempts: {
    one: 'Ktoś wpisał błędny klucz.',
    few: 'Ktoś {n} razy wpisał błędny klucz.',
    many: 'Ktoś {n} razy wpisał błędny klucz.',
    other: 'Ktoś {n} raza wpisał błędny klucz.',
  },
  fileChanged: 'Ten plik zmienił się od rozpoczęcia przesyłania. Dodaj go ponownie.',
  fileDamaged: 'Ten plik jest uszkodzony i nie można go odszyfrować.',
  fileInArchiveDamaged: 'Plik {name} jest uszkodzony i nie można go odszyfrować.',
  nothingSaved: 'Niczego nie zapisano.',
  decrypting: 'Odszyfrowywanie…',
  cancelDownload: 'Anuluj pobieranie {name}',
  tooLargeToSave:
    'Ta przeglądarka nie może zapisywać zaszyfrowanych plików większych niż {size}. Użyj Chrome lub Edge na komputerze albo wiersza poleceń.',
  tooLargeToShow: 'Ten plik jest za duży, aby go tu wyświetlić. Pobierz go.',
  rollbackTitle: 'Serwer wysłał starszy tekst',
  rollbackHint:
    'To urządzenie widziało już nowszą wersję. Być może serwer przywrócono z kopii zapasowej albo ktoś ukrywa przed Tobą zmiany.',
  forkTitle: 'Serwer wysłał inny tekst',
  forkHint:
    'Nie jest on kontynuacją wersji, którą widziało to urządzenie. Być może ktoś podmienił zmiany w tym pokoju.',
  wordsMissing: 'W tekście brakuje słów, które zostały tu napisane. Ktoś je usunął albo serwer je utracił.',
  damagedTitle: 'Dane tego pokoju są uszkodzone',
  damagedHint:
    'Nie udało się ich odszyfrować. Zmieniono je na serwerze lub zaszyfrowano innym kluczem. Niczego nie nadpisano.',
  notEncryptedTitle: 'Ten pokój nie jest zaszyfrowany',
  notEncryptedHint:
    'Ten pokój powinien być zaszyfrowany, ale według serwera nie jest. Być może ktoś próbuje czytać to, co piszesz. Niczego nie wysłano. Sprawdź kod i adres tej strony.',
  openAnyway: 'Otwórz mimo to',
  openAnywayHint: 'Najpierw skopiuj swój tekst. Niewysłane zmiany zostaną utracone.',
};
