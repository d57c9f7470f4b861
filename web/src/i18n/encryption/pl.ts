/** Polish: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'Wpisz klucz do pokoju {code}',
  keyHint: 'Ten pokój jest zaszyfrowany. Poproś o klucz lub link z kluczem osobę, która go utworzyła.',
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
  keepKeyHint: 'W przeciwnym razie urządzenie zapomni go po zamknięciu karty.',
  linkHasKey: 'Link i kod QR zawierają klucz.',
  keyAttempts: {
    one: 'Ktoś wpisał błędny klucz.',
    few: 'Ktoś {n} razy wpisał błędny klucz.',
    many: 'Ktoś {n} razy wpisał błędny klucz.',
    other: 'Ktoś {n} raza wpisał błędny klucz.',
  },
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
  damagedTitle: 'Dane tego pokoju są uszkodzone',
  damagedHint:
    'Nie udało się ich odszyfrować. Zmieniono je na serwerze lub zaszyfrowano innym kluczem. Niczego nie nadpisano.',
  notEncryptedTitle: 'Ten pokój nie jest zaszyfrowany',
  notEncryptedHint:
    'Twój link zawiera klucz, ale według serwera pokój nie jest zaszyfrowany. Niczego nie wysłano. Sprawdź link.',
  openAnyway: 'Otwórz mimo to',
  openAnywayHint: 'Najpierw skopiuj swój tekst. Niewysłane zmiany zostaną utracone.',
};
