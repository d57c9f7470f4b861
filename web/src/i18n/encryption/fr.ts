/** French: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'Saisissez la clé du salon {code}',
  keyHint: 'Ce salon est chiffré. Demandez la clé, ou un lien avec la clé, à la personne qui l’a créé.',
  keyHintOwn:
    'Vous avez créé ce salon sur cet appareil, mais sans mémoriser sa clé. Cherchez-la sur un autre appareil du salon, ou dans le lien que vous avez partagé.',
  keyLabel: 'Clé ou lien du salon',
  openRoom: 'Ouvrir le salon',
  keyChecking: 'Vérification de la clé…',
  keyWrong: 'Clé incorrecte. C’est la clé d’un autre salon.',
  keyWrongTriesLeft: { one: 'Clé incorrecte. Il reste {n} essai.', other: 'Clé incorrecte. Il reste {n} essais.' },
  keyMistyped: 'Cette clé contient une faute de frappe. Comparez-la à l’originale.',
  keyMalformed: 'Une clé comporte 16 lettres et chiffres, par exemple H4T9-WZ3B-NQ6Y-RC88.',
  keyLocked: 'Trop de clés incorrectes. Réessayez dans {time}.',
  encrypted: 'Ce salon est chiffré',
  encryptedWhat:
    'Le texte, les fichiers et les noms sont chiffrés sur vos appareils. Le serveur les stocke, mais ne peut pas les lire.',
  encryptedWho:
    'Toute personne qui a la clé peut tout lire et tout modifier ici. Personne ne peut récupérer une clé perdue.',
  encryptedLimits:
    'Le serveur voit toujours les tailles, les heures et les adresses réseau. De plus, votre navigateur exécute la page que ce serveur envoie. Si vous ne lui faites pas confiance pour cela, utilisez la ligne de commande.',
  roomKey: 'Clé du salon',
  copyKey: 'Copier la clé',
  keepKey: 'Mémoriser la clé sur cet appareil',
  keepKeyHint: 'Sinon, vous aurez de nouveau besoin de la clé après avoir fermé cet onglet.',
  keepNewKeyHint:
    'Désactivez cette option sur un ordinateur partagé. La clé sera alors nécessaire pour rouvrir le salon.',
  leaveKeyTitle: 'Quitter sans la clé ?',
  leaveKeyHint:
    'Aucun autre appareil n’est dans ce salon et cet appareil ne mémorise pas sa clé. Sans la clé ou un lien avec la clé, personne ne pourra rouvrir le salon.',
  leaveKeyKeep: 'Mémoriser et quitter',
  draftKept: 'Les modifications non envoyées sont toujours sur cet appareil.',
  linkHasKey: 'Le lien et le code QR contiennent la clé. Un navigateur qui ouvre le lien le garde dans son historique.',
  typeKey: 'Saisir plutôt la clé',
  typeKeyHint:
    'Sur un ordinateur partagé, ouvrez {host} et saisissez le code, puis la clé. L’historique ne contient alors pas la clé.',
  inviteKeyHint: 'Scannez le code QR, ou ouvrez {host} sur l’autre appareil et saisissez le code et la clé.',
  keyAttempts: { one: 'Quelqu’un a saisi une clé incorrecte.', other: 'Une clé incorrecte a été saisie {n} fois.' },
  fileChanged: 'Ce fichier a été modifié depuis le début de l’importation. Ajoutez-le à nouveau.',
  fileDamaged: 'Ce fichier est endommagé et ne peut pas être déchiffré.',
  fileInArchiveDamaged: '{name} est endommagé et ne peut pas être déchiffré.',
  nothingSaved: 'Rien n’a été enregistré.',
  decrypting: 'Déchiffrement…',
  cancelDownload: 'Annuler le téléchargement de {name}',
  tooLargeToSave:
    'Ce navigateur ne peut pas enregistrer de fichiers chiffrés de plus de {size}. Utilisez Chrome ou Edge sur un ordinateur, ou la ligne de commande.',
  tooLargeToShow: 'Ce fichier est trop volumineux pour être affiché ici. Téléchargez-le.',
  rollbackTitle: 'Le serveur a envoyé un texte plus ancien',
  rollbackHint:
    'Cet appareil a déjà vu une version plus récente. Le serveur a peut-être été restauré depuis une sauvegarde, ou quelqu’un vous cache des modifications.',
  forkTitle: 'Le serveur a envoyé un autre texte',
  forkHint:
    'Il ne continue pas la version que cet appareil a vue. Quelqu’un a peut-être remplacé les modifications de ce salon.',
  wordsMissing:
    'Des mots que vous avez écrits ne sont plus dans le texte. Quelqu’un les a supprimés, ou le serveur les a perdus.',
  damagedTitle: 'Les données de ce salon sont endommagées',
  damagedHint:
    'Elles n’ont pas pu être déchiffrées. Elles ont été modifiées sur le serveur ou chiffrées avec une autre clé. Rien n’a été écrasé.',
  notEncryptedTitle: 'Ce salon n’est pas chiffré',
  notEncryptedHint:
    'Ce salon devrait être chiffré, mais selon le serveur, il ne l’est pas. Quelqu’un cherche peut-être à lire ce que vous écrivez. Rien n’a été envoyé. Vérifiez le code et l’adresse de cette page.',
  openAnyway: 'Ouvrir quand même',
  openAnywayHint: 'Copiez d’abord votre texte. Les modifications non envoyées seront perdues.',
};
