/** Japanese: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: 'この QR コードをスマートフォンでスキャンしてください',
  screenSteps:
    'スマートフォンのカメラアプリを QR コードに向け、スマートフォンでルームを選択してください。そのルームがこの画面で開きます。',
  screenQr: 'この画面を招待する QR コード',
  screenExpired: 'QR コードの有効期限が切れました。',
  newCode: '新しいコードを表示',
  answerTitle: '別の画面を招待',
  answerHint:
    '別の画面があなたのルームへの参加を求めています。その画面で開くルームを選択してください。画面にはルームのテキストとファイルが表示されます。信頼できる画面の QR コードをスキャンした場合のみ続行してください。',
  noRooms: 'このデバイスに最近のルームはありません。新しいルームを作成してください。',
  waitingForScreen: '画面を待っています…',
  answerAccepted: '画面がルーム {code} に参加しました',
  openHere: 'ここでルームを開く',
  answerInvalid: 'この招待は無効になりました',
  answerInvalidHint: '画面に新しいコードを表示してスキャンしてください。',
  answerDamaged: 'この QR コードは不完全です',
};
