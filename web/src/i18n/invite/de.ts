/** German: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: 'Scanne diesen QR-Code mit deinem Handy',
  screenSteps:
    'Öffne die Kamera-App eines Handys und richte sie auf den QR-Code. Wähle dann auf dem Handy einen Raum aus. Er wird auf diesem Bildschirm geöffnet.',
  screenQr: 'QR-Code zum Einladen dieses Bildschirms',
  screenExpired: 'Der QR-Code ist abgelaufen.',
  newCode: 'Neuen Code anzeigen',
  answerTitle: 'Bildschirm einladen',
  answerHint:
    'Ein anderer Bildschirm möchte einem deiner Räume beitreten. Wähle den Raum aus, der dort geöffnet werden soll. Der Bildschirm zeigt dann Text und Dateien an. Fahre nur fort, wenn du den QR-Code von einem Bildschirm gescannt hast, dem du vertraust.',
  noRooms: 'Keine letzten Räume auf diesem Gerät. Erstelle einen neuen.',
  waitingForScreen: 'Warten auf den Bildschirm …',
  answerAccepted: 'Der Bildschirm ist im Raum {code}',
  openHere: 'Raum hier öffnen',
  answerInvalid: 'Diese Einladung ist nicht mehr gültig',
  answerInvalidHint: 'Zeige auf dem Bildschirm einen neuen Code an und scanne ihn.',
  answerDamaged: 'Dieser QR-Code ist unvollständig',
};
