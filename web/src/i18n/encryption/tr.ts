/** Turkish: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: '{code} odasının anahtarını girin',
  keyHint: 'Bu oda şifreli. Anahtarı veya anahtarı içeren bağlantıyı odayı oluşturan kişiden isteyin.',
  keyHintOwn:
    'Bu odayı bu cihazda oluşturdunuz ama anahtarını saklamadınız. Anahtara odadaki başka bir cihazdan veya paylaştığınız bağlantıdan bakın.',
  keyLabel: 'Oda anahtarı veya bağlantısı',
  openRoom: 'Odayı aç',
  keyChecking: 'Anahtar kontrol ediliyor…',
  keyWrong: 'Yanlış anahtar. Bu, başka bir odanın anahtarı.',
  keyWrongTriesLeft: {
    one: 'Yanlış anahtar. {n} deneme hakkı kaldı.',
    other: 'Yanlış anahtar. {n} deneme hakkı kaldı.',
  },
  keyMistyped: 'Anahtarda yazım hatası var. Aslıyla karşılaştırın.',
  keyMalformed: 'Bir anahtar, H4T9-WZ3B-NQ6Y-RC88 gibi 16 harf ve rakamdan oluşur.',
  keyLocked: 'Çok fazla yanlış anahtar girildi. {time} sonra tekrar deneyin.',
  encrypted: 'Bu oda şifreli',
  encryptedWhat: 'Metin, dosyalar ve adlar cihazlarınızda şifrelenir. Sunucu bunları saklar ama okuyamaz.',
  encryptedWho:
    'Anahtara sahip olan herkes buradaki her şeyi okuyup değiştirebilir. Kaybolan anahtarı kimse kurtaramaz.',
  encryptedLimits:
    'Sunucu yine de boyutları, zamanları ve ağ adreslerini görür. Ayrıca tarayıcınız bu sunucunun gönderdiği sayfayı çalıştırır. Bu konuda sunucuya güvenmiyorsanız komut satırını kullanın.',
  roomKey: 'Oda anahtarı',
  copyKey: 'Anahtarı kopyala',
  keepKey: 'Anahtarı bu cihazda hatırla',
  keepKeyHint: 'Aksi halde bu sekmeyi kapattıktan sonra anahtara yeniden ihtiyacınız olur.',
  keepNewKeyHint: 'Ortak bir bilgisayarda bunu kapatın. Odayı yeniden açmak için o zaman anahtar gerekir.',
  leaveKeyTitle: 'Anahtarsız ayrılınsın mı?',
  leaveKeyHint:
    'Bu odada başka cihaz yok ve bu cihaz anahtarı hatırlamıyor. Anahtar veya anahtarı içeren bağlantı olmadan kimse odayı yeniden açamaz.',
  leaveKeyKeep: 'Hatırla ve ayrıl',
  draftKept: 'Gönderilmeyen değişiklikler hâlâ bu cihazda.',
  linkHasKey: 'Bağlantı ve QR kodu anahtarı içerir. Bağlantıyı açan tarayıcı onu geçmişinde tutar.',
  typeKey: 'Bunun yerine anahtarı yaz',
  typeKeyHint:
    'Ortak bir bilgisayarda {host} adresini açın, önce kodu, sonra anahtarı girin. Böylece geçmişte anahtar kalmaz.',
  inviteKeyHint: 'QR kodunu tarayın veya diğer cihazda {host} adresini açıp kodu ve anahtarı girin.',
  keyAttempts: { one: 'Yanlış bir anahtar girildi.', other: '{n} kez yanlış anahtar girildi.' },
  fileChanged: 'Bu dosya, yükleme başladıktan sonra değişti. Dosyayı tekrar ekleyin.',
  fileDamaged: 'Bu dosya bozuk ve şifresi çözülemiyor.',
  fileInArchiveDamaged: '{name} bozuk ve şifresi çözülemiyor.',
  nothingSaved: 'Hiçbir şey kaydedilmedi.',
  decrypting: 'Şifre çözülüyor…',
  cancelDownload: '{name} indirmesini iptal et',
  tooLargeToSave:
    'Bu tarayıcı {size} üzerindeki şifreli dosyaları kaydedemiyor. Bilgisayarda Chrome veya Edge ya da komut satırını kullanın.',
  tooLargeToShow: 'Bu dosya burada gösterilemeyecek kadar büyük. Bunun yerine indirin.',
  rollbackTitle: 'Sunucu daha eski bir metin gönderdi',
  rollbackHint:
    'Bu cihaz daha yeni bir sürüm görmüştü. Sunucu bir yedekten geri yüklenmiş olabilir veya biri sizden değişiklikleri gizliyor olabilir.',
  forkTitle: 'Sunucu farklı bir metin gönderdi',
  forkHint:
    'Bu metin, cihazın gördüğü sürümün devamı değil. Biri bu odanın değişikliklerini başkalarıyla değiştirmiş olabilir.',
  wordsMissing: 'Yazdığınız bazı kelimeler artık metinde yok. Biri onları kaldırdı ya da sunucu onları kaybetti.',
  damagedTitle: 'Bu odanın verileri bozuk',
  damagedHint:
    'Verilerin şifresi çözülemedi. Sunucuda değiştirilmiş veya başka bir anahtarla şifrelenmiş. Hiçbir şeyin üzerine yazılmadı.',
  notEncryptedTitle: 'Bu oda şifreli değil',
  notEncryptedHint:
    'Bu oda şifreli olmalı ama sunucu şifreli olmadığını söylüyor. Biri yazdıklarınızı okumaya çalışıyor olabilir. Hiçbir şey gönderilmedi. Kodu ve bu sayfanın adresini kontrol edin.',
  openAnyway: 'Yine de aç',
  openAnywayHint: 'Önce metninizi kopyalayın. Gönderilmeyen değişiklikler kaybolur.',
};
