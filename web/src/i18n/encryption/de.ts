/** German: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'Schlüssel für Raum {code} eingeben',
  keyHint:
    'Dieser Raum ist verschlüsselt. Frag die Person, die ihn erstellt hat, nach dem Schlüssel oder einem Link mit dem Schlüssel.',
  keyHintOwn:
    'Du hast diesen Raum auf diesem Gerät erstellt, aber den Schlüssel nicht gemerkt. Du findest ihn auf einem anderen Gerät im Raum oder im Link, den du geteilt hast.',
  keyLabel: 'Schlüssel oder Link',
  openRoom: 'Raum öffnen',
  keyChecking: 'Schlüssel wird geprüft …',
  keyWrong: 'Falscher Schlüssel. Er gehört zu einem anderen Raum.',
  keyWrongTriesLeft: { one: 'Falscher Schlüssel. Noch {n} Versuch.', other: 'Falscher Schlüssel. Noch {n} Versuche.' },
  keyMistyped: 'Der Schlüssel enthält einen Tippfehler. Vergleiche ihn mit dem Original.',
  keyMalformed: 'Ein Schlüssel hat 16 Buchstaben und Ziffern, zum Beispiel H4T9-WZ3B-NQ6Y-RC88.',
  keyLocked: 'Zu viele falsche Schlüssel. Versuche es in {time} erneut.',
  encrypted: 'Dieser Raum ist verschlüsselt',
  encryptedWhat:
    'Text, Dateien und Namen werden auf deinen Geräten verschlüsselt. Der Server speichert sie, kann sie aber nicht lesen.',
  encryptedWho:
    'Wer den Schlüssel hat, kann hier alles lesen und ändern. Einen verlorenen Schlüssel kann niemand wiederherstellen.',
  encryptedLimits:
    'Der Server sieht weiterhin Größen, Zeiten und Netzwerkadressen. Außerdem führt dein Browser die Seite aus, die dieser Server sendet. Wenn du dem Server darin nicht vertraust, verwende die Befehlszeile.',
  roomKey: 'Raumschlüssel',
  copyKey: 'Schlüssel kopieren',
  keepKey: 'Schlüssel auf diesem Gerät merken',
  keepKeyHint: 'Sonst brauchst du den Schlüssel erneut, nachdem du diesen Tab geschlossen hast.',
  keepNewKeyHint:
    'Schalte das auf einem gemeinsam genutzten Computer aus. Du brauchst dann den Schlüssel, um den Raum erneut zu öffnen.',
  leaveKeyTitle: 'Ohne Schlüssel verlassen?',
  leaveKeyHint:
    'Kein anderes Gerät ist in diesem Raum, und dieses Gerät merkt sich den Schlüssel nicht. Ohne den Schlüssel oder einen Link mit dem Schlüssel kann niemand den Raum erneut öffnen.',
  leaveKeyKeep: 'Merken und verlassen',
  draftKept: 'Änderungen, die nicht gesendet wurden, sind noch auf diesem Gerät.',
  linkHasKey:
    'Der Link und der QR-Code enthalten den Schlüssel. Ein Browser, der den Link öffnet, behält ihn im Verlauf.',
  typeKey: 'Schlüssel eintippen',
  typeKeyHint:
    'Öffne auf einem gemeinsam genutzten Computer {host} und gib den Code und dann den Schlüssel ein. So steht der Schlüssel nicht im Verlauf.',
  inviteKeyHint: 'Scanne den QR-Code oder öffne {host} auf dem anderen Gerät und gib den Code und den Schlüssel ein.',
  keyAttempts: {
    one: 'Jemand hat einen falschen Schlüssel eingegeben.',
    other: 'Jemand hat {n}-mal einen falschen Schlüssel eingegeben.',
  },
  fileChanged: 'Diese Datei wurde während des Uploads geändert. Füge sie erneut hinzu.',
  fileDamaged: 'Diese Datei ist beschädigt und kann nicht entschlüsselt werden.',
  fileInArchiveDamaged: '{name} ist beschädigt und kann nicht entschlüsselt werden.',
  nothingSaved: 'Es wurde nichts gespeichert.',
  decrypting: 'Wird entschlüsselt…',
  cancelDownload: 'Download von {name} abbrechen',
  tooLargeToSave:
    'Dieser Browser kann keine verschlüsselten Dateien über {size} speichern. Verwende Chrome oder Edge auf einem Computer oder die Kommandozeile.',
  tooLargeToShow: 'Diese Datei ist zu groß, um sie hier anzuzeigen. Lade sie stattdessen herunter.',
  rollbackTitle: 'Der Server hat einen älteren Text gesendet',
  rollbackHint:
    'Dieses Gerät hat schon eine neuere Version gesehen. Vielleicht wurde der Server aus einem Backup wiederhergestellt, oder jemand verbirgt Änderungen vor dir.',
  forkTitle: 'Der Server hat einen anderen Text gesendet',
  forkHint:
    'Er setzt die Version nicht fort, die dieses Gerät gesehen hat. Vielleicht hat jemand die Änderungen dieses Raums ersetzt.',
  wordsMissing:
    'Wörter, die du geschrieben hast, fehlen im Text. Jemand hat sie entfernt, oder der Server hat sie verloren.',
  damagedTitle: 'Die Daten dieses Raums sind beschädigt',
  damagedHint:
    'Sie konnten nicht entschlüsselt werden. Sie wurden auf dem Server verändert oder mit einem anderen Schlüssel verschlüsselt. Nichts wurde überschrieben.',
  notEncryptedTitle: 'Dieser Raum ist nicht verschlüsselt',
  notEncryptedHint:
    'Dieser Raum sollte verschlüsselt sein, ist es laut Server aber nicht. Vielleicht will jemand mitlesen, was du schreibst. Es wurde nichts gesendet. Prüfe den Code und die Adresse dieser Seite.',
  openAnyway: 'Trotzdem öffnen',
  openAnywayHint: 'Kopiere zuerst deinen Text. Nicht gesendete Änderungen gehen verloren.',
};
