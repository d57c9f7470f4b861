/** French: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: 'Scannez ce code QR avec votre téléphone',
  screenSteps:
    'Ouvrez l’appareil photo d’un téléphone et pointez-le vers le code QR. Choisissez ensuite un salon sur le téléphone. Il s’ouvre sur cet écran.',
  screenQr: 'Code QR pour inviter cet écran',
  screenExpired: 'Le code QR a expiré.',
  newCode: 'Afficher un nouveau code',
  answerTitle: 'Inviter un autre écran',
  answerHint:
    'Un autre écran souhaite rejoindre l’un de vos salons. Choisissez le salon à y ouvrir. L’écran affichera son texte et ses fichiers : continuez uniquement si vous avez scanné le code QR d’un écran de confiance.',
  noRooms: 'Aucun salon récent sur cet appareil. Créez-en un nouveau.',
  waitingForScreen: 'En attente de l’écran…',
  answerAccepted: 'L’écran est dans le salon {code}',
  openHere: 'Ouvrir le salon ici',
  answerInvalid: 'Cette invitation n’est plus valide',
  answerInvalidHint: 'Affichez un nouveau code sur l’écran et scannez-le.',
  answerDamaged: 'Ce code QR est incomplet',
};
