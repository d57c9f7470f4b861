/** French: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'Saisissez la clé du salon {code}',
  keyHint: 'Ce salon est chiffré. Demandez la clé, ou un lien avec la clé, à la personne qui l’a créé.',
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
  keepKeyHint: 'Sinon, cet appareil l’oublie à la fermeture de l’onglet.',
  linkHasKey: 'Le lien et le code QR contiennent la clé.',
  keyAttempts: { one: 'Quelqu’un a saisi une clé incorrecte.', other: 'Une clé incorrecte a été saisie {n} fois.' },
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
  damagedTitle: 'Les données de ce salon sont endommagées',
  damagedHint:
    'Elles n’ont pas pu être déchiffrées. Elles ont été modifiées sur le serveur ou chiffrées avec une autre clé. Rien n’a été écrasé.',
  notEncryptedTitle: 'Ce salon n’est pas chiffré',
  notEncryptedHint:
    'Votre lien contient une clé, mais selon le serveur, le salon n’est pas chiffré. Rien n’a été envoyé. Vérifiez le lien.',
  openAnyway: 'Ouvrir quand même',
  openAnywayHint: 'Copiez d’abord votre texte. Les modifications non envoyées seront perdues.',
};
