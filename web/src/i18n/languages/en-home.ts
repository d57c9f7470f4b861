/** English: the strings that only the home page shows, so that rooms do not load them. */

export const strings = {
  headline: 'One room, all your devices.',
  tagline:
    'Start a room here, join it there. Text and files appear on both instantly. When the room expires, everything is deleted.',
  smallPrint: 'No account, no app, no tracking.',
  showInviteQr: 'Show a QR code to be invited',
  youAreOffline: 'You’re offline. Reconnect to start or join a room.',
  sharePending: 'You shared something from another app. Choose a room to send it to.',
  chooseRoom: 'Choose room',
};
