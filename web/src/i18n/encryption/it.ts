/** Italian: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'Inserisci la chiave della stanza {code}',
  keyHint: 'Questa stanza è crittografata. Chiedi la chiave, o un link con la chiave, a chi l’ha creata.',
  keyLabel: 'Chiave o link della stanza',
  openRoom: 'Apri stanza',
  keyChecking: 'Verifica della chiave…',
  keyWrong: 'Chiave errata. È la chiave di un’altra stanza.',
  keyWrongTriesLeft: { one: 'Chiave errata. Resta {n} tentativo.', other: 'Chiave errata. Restano {n} tentativi.' },
  keyMistyped: 'La chiave contiene un errore di battitura. Confrontala con l’originale.',
  keyMalformed: 'Una chiave ha 16 lettere e cifre, ad esempio H4T9-WZ3B-NQ6Y-RC88.',
  keyLocked: 'Troppe chiavi errate. Riprova tra {time}.',
  encrypted: 'Questa stanza è crittografata',
  encryptedWhat:
    'Testo, file e nomi vengono crittografati sui tuoi dispositivi. Il server li conserva, ma non può leggerli.',
  encryptedWho: 'Chi ha la chiave può leggere e modificare tutto. Nessuno può recuperare una chiave persa.',
  encryptedLimits:
    'Il server vede comunque dimensioni, orari e indirizzi di rete. Inoltre il browser esegue la pagina inviata da questo server. Se non ti fidi del server per questo, usa la riga di comando.',
  roomKey: 'Chiave della stanza',
  copyKey: 'Copia chiave',
  keepKey: 'Ricorda la chiave su questo dispositivo',
  keepKeyHint: 'Altrimenti questo dispositivo la dimentica quando chiudi la scheda.',
  linkHasKey: 'Il link e il codice QR contengono la chiave.',
  keyAttempts: {
    one: 'Qualcuno ha inserito una chiave errata.',
    other: 'Qualcuno ha inserito una chiave errata {n} volte.',
  },
  fileDamaged: 'Questo file è danneggiato e non può essere decifrato.',
  fileInArchiveDamaged: '{name} è danneggiato e non può essere decifrato.',
  nothingSaved: 'Non è stato salvato nulla.',
  decrypting: 'Decifratura…',
  cancelDownload: 'Annulla il download di {name}',
  tooLargeToSave:
    'Questo browser non può salvare file crittografati di oltre {size}. Usa Chrome o Edge su un computer, oppure la riga di comando.',
  tooLargeToShow: 'Questo file è troppo grande per essere mostrato qui. Scaricalo.',
  rollbackTitle: 'Il server ha inviato un testo precedente',
  rollbackHint:
    'Questo dispositivo ha già visto una versione più recente. Forse il server è stato ripristinato da un backup, oppure qualcuno ti nasconde delle modifiche.',
  forkTitle: 'Il server ha inviato un testo diverso',
  forkHint:
    'Non continua la versione vista da questo dispositivo. Forse qualcuno ha sostituito le modifiche di questa stanza.',
  damagedTitle: 'I dati di questa stanza sono danneggiati',
  damagedHint:
    'Non è stato possibile decifrarli. Sono stati modificati sul server o crittografati con un’altra chiave. Nulla è stato sovrascritto.',
  notEncryptedTitle: 'Questa stanza non è crittografata',
  notEncryptedHint:
    'Il tuo link contiene una chiave, ma secondo il server la stanza non è crittografata. Non è stato inviato nulla. Controlla il link.',
  openAnyway: 'Apri comunque',
  openAnywayHint: 'Copia prima il tuo testo. Le modifiche non inviate andranno perse.',
};
