/** Italian: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'Inserisci la chiave della stanza {code}',
  keyHint: 'Questa stanza è crittografata. Chiedi la chiave, o un link con la chiave, a chi l’ha creata.',
  keyHintOwn:
    'Hai creato questa stanza su questo dispositivo, ma non hai conservato la chiave. Cercala su un altro dispositivo nella stanza o nel link che hai condiviso.',
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
  keepKeyHint: 'Altrimenti ti servirà di nuovo la chiave dopo aver chiuso questa scheda.',
  keepNewKeyHint: 'Disattivalo su un computer condiviso. Ti servirà la chiave per riaprire la stanza.',
  leaveKeyTitle: 'Uscire senza la chiave?',
  leaveKeyHint:
    'Nessun altro dispositivo è in questa stanza e questo dispositivo non ricorda la chiave. Senza la chiave o un link con la chiave, nessuno potrà riaprire la stanza.',
  leaveKeyKeep: 'Ricorda chiave ed esci',
  draftKept: 'Le modifiche non inviate sono ancora su questo dispositivo.',
  linkHasKey: 'Il link e il codice QR contengono la chiave. Un browser che apre il link lo conserva nella cronologia.',
  typeKey: 'Digita la chiave',
  typeKeyHint:
    'Su un computer condiviso, apri {host} e inserisci il codice, poi la chiave. Così la cronologia non contiene la chiave.',
  inviteKeyHint: 'Scansiona il codice QR oppure apri {host} sull’altro dispositivo e inserisci il codice e la chiave.',
  keyAttempts: {
    one: 'Qualcuno ha inserito una chiave errata.',
    other: 'Qualcuno ha inserito una chiave errata {n} volte.',
  },
  fileChanged: 'Questo file è stato modificato dopo l’inizio del caricamento. Aggiungilo di nuovo.',
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
  wordsMissing: 'Nel testo mancano parole che hai scritto. Qualcuno le ha rimosse oppure il server le ha perse.',
  damagedTitle: 'I dati di questa stanza sono danneggiati',
  damagedHint:
    'Non è stato possibile decifrarli. Sono stati modificati sul server o crittografati con un’altra chiave. Nulla è stato sovrascritto.',
  notEncryptedTitle: 'Questa stanza non è crittografata',
  notEncryptedHint:
    'Questa stanza dovrebbe essere crittografata, ma secondo il server non lo è. Forse qualcuno cerca di leggere ciò che scrivi. Non è stato inviato nulla. Controlla il codice e l’indirizzo di questa pagina.',
  openAnyway: 'Apri comunque',
  openAnywayHint: 'Copia prima il tuo testo. Le modifiche non inviate andranno perse.',
};
