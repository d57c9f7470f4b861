/** Chinese: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: '用手机扫描此二维码',
  screenSteps: '打开手机的相机应用，对准二维码，然后在手机上选择房间。该房间会在此屏幕上打开。',
  screenQr: '用于邀请此屏幕的二维码',
  screenExpired: '二维码已过期。',
  newCode: '显示新的二维码',
  answerTitle: '邀请另一块屏幕',
  answerHint:
    '另一块屏幕想加入您的房间。请选择要在该屏幕上打开的房间。屏幕会显示房间中的文本和文件，因此请仅在您扫描的是可信屏幕上的二维码时继续。',
  noRooms: '此设备上没有最近的房间。请创建新房间。',
  waitingForScreen: '正在等待屏幕…',
  answerAccepted: '屏幕已加入房间 {code}',
  openHere: '在此打开房间',
  answerInvalid: '此邀请已失效',
  answerInvalidHint: '请在屏幕上显示新的二维码并扫描。',
  answerDamaged: '此二维码不完整',
};
