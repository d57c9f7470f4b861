/** English: the strings for encrypted rooms. Every other language has the same keys. */

import type { Plural } from '../translation.ts';

export const strings = {
  keyTitle: 'Enter the key for room {code}',
  keyHint: 'This room is encrypted. Ask the person who started it for the key, or for a link with the key.',
  keyHintOwn:
    'You started this room on this device but did not keep its key. Look for it on another device in the room, or in the link that you shared.',
  keyLabel: 'Room key or link',
  openRoom: 'Open room',
  keyChecking: 'Checking the key…',
  keyWrong: 'Wrong key. This key belongs to another room.',
  keyWrongTriesLeft: { one: 'Wrong key. {n} try left.', other: 'Wrong key. {n} tries left.' },
  keyMistyped: 'This key has a typo. Compare it with the original.',
  keyMalformed: 'A key has 16 letters and digits, such as H4T9-WZ3B-NQ6Y-RC88.',
  keyLocked: 'Too many wrong keys. Try again in {time}.',
  encrypted: 'This room is encrypted',
  encryptedWhat: 'Text, files and names are encrypted on your devices. The server stores them, but can’t read them.',
  encryptedWho:
    'Everyone with the key can read and change everything here. If you lose the key, nobody can recover it.',
  encryptedLimits:
    'The server still sees sizes, times and network addresses. Your browser also runs the page that this server sends. If you don’t trust the server with that, use the command line.',
  roomKey: 'Room key',
  copyKey: 'Copy key',
  keepKey: 'Remember the key on this device',
  keepKeyHint: 'Otherwise, you need the key again after you close this tab.',
  keepNewKeyHint: 'Turn this off on a shared computer. You then need the key to open the room again.',
  leaveKeyTitle: 'Leave without the key?',
  leaveKeyHint:
    'No other device is in this room, and this device doesn’t remember its key. Without the key or a link with it, nobody can open the room again.',
  leaveKeyKeep: 'Remember key and leave',
  draftKept: 'Changes that were not sent are still on this device.',
  linkHasKey: 'The link and the QR code contain the key. A browser that opens the link keeps it in its history.',
  typeKey: 'Type the key instead',
  typeKeyHint:
    'On a shared computer, open {host} and enter the code, then the key. The history then doesn’t contain the key.',
  inviteKeyHint: 'Scan the QR code, or open {host} on the other device and enter the code and the key.',
  keyAttempts: { one: 'Someone entered a wrong key.', other: 'Someone entered a wrong key {n} times.' },
  fileChanged: 'This file has changed since its upload started. Add it again.',
  fileDamaged: 'This file is damaged and can’t be decrypted.',
  fileInArchiveDamaged: '{name} is damaged and can’t be decrypted.',
  nothingSaved: 'Nothing was saved.',
  decrypting: 'Decrypting…',
  cancelDownload: 'Cancel download of {name}',
  tooLargeToSave:
    'This browser can’t save encrypted files over {size}. Use Chrome or Edge on a computer, or the command line.',
  tooLargeToShow: 'This file is too large to show here. Download it instead.',
  rollbackTitle: 'The server sent an older text',
  rollbackHint:
    'This device has seen a newer version. The server may have been restored from a backup, or someone may be hiding changes from you.',
  forkTitle: 'The server sent a different text',
  forkHint: 'It doesn’t continue the version that this device has seen. Someone may have replaced this room’s changes.',
  wordsMissing: 'Words that you wrote are missing from the text. Someone removed them, or the server lost them.',
  damagedTitle: 'The data of this room is damaged',
  damagedHint:
    'It couldn’t be decrypted. It was changed on the server, or sealed with another key. Nothing was overwritten.',
  notEncryptedTitle: 'This room isn’t encrypted',
  notEncryptedHint:
    'This room should be encrypted, but the server says that it isn’t. Someone may be trying to read what you write. Nothing was sent. Check the code and the address of this page.',
  openAnyway: 'Open it anyway',
  openAnywayHint: 'Copy your text first. Changes that were not sent will be lost.',
};

/** A missing or unknown key does not compile. */
export type EncryptionStrings = Record<keyof typeof strings, string | Plural>;
