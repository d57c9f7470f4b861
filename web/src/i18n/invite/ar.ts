/** Arabic: the strings for inviting a screen. */
import type { InviteStrings } from './en.ts';

export const strings: InviteStrings = {
  screenTitle: 'امسح رمز QR هذا بهاتفك',
  screenSteps: 'افتح تطبيق الكاميرا في هاتف ووجّهه إلى رمز QR، ثم اختر غرفة على الهاتف. ستُفتح الغرفة على هذه الشاشة.',
  screenQr: 'رمز QR لدعوة هذه الشاشة',
  screenExpired: 'انتهت صلاحية رمز QR.',
  newCode: 'عرض رمز جديد',
  answerTitle: 'دعوة شاشة أخرى',
  answerHint:
    'تريد شاشة أخرى الانضمام إلى إحدى غرفك. اختر الغرفة التي ستُفتح عليها. ستعرض الشاشة نص الغرفة وملفاتها، لذا لا تتابع إلا إذا مسحت رمز QR من شاشة تثق بها.',
  noRooms: 'لا توجد غرف أخيرة على هذا الجهاز. أنشئ غرفة جديدة.',
  waitingForScreen: 'في انتظار الشاشة…',
  answerAccepted: 'الشاشة الآن في الغرفة {code}',
  openHere: 'فتح الغرفة هنا',
  answerInvalid: 'لم تعد هذه الدعوة صالحة',
  answerInvalidHint: 'اعرض رمزًا جديدًا على الشاشة وامسحه.',
  answerDamaged: 'رمز QR هذا غير مكتمل',
};
