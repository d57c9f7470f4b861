/** English: the strings for inviting a screen. Every other language has the same keys. */

export const strings = {
  screenTitle: 'Scan this QR code with your phone',
  screenSteps:
    'Open the camera app on a phone and point it at the QR code. Then choose a room on the phone. It opens on this screen.',
  screenQr: 'QR code to invite this screen',
  screenExpired: 'The QR code has expired.',
  newCode: 'Show a new code',
  answerTitle: 'Invite another screen',
  answerHint:
    'Another screen wants to join one of your rooms. Choose the room to open there. The screen will show its text and files, so continue only if you scanned the QR code from a screen you trust.',
  noRooms: 'No recent rooms on this device. Start a new one.',
  waitingForScreen: 'Waiting for the screen…',
  answerAccepted: 'The screen is in room {code}',
  openHere: 'Open the room here',
  answerInvalid: 'This invitation is no longer valid',
  answerInvalidHint: 'Show a new code on the screen and scan it.',
  answerDamaged: 'This QR code is incomplete',
};

/** A missing or unknown key does not compile. */
export type InviteStrings = Record<keyof typeof strings, string>;
