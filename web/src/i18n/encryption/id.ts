/** Indonesian: the strings for encrypted rooms. */
import type { EncryptionStrings } from './en.ts';

export const strings: EncryptionStrings = {
  keyTitle: 'Masukkan kunci untuk ruang {code}',
  keyHint: 'Ruang ini terenkripsi. Minta kunci, atau link yang berisi kunci, kepada orang yang membuatnya.',
  keyLabel: 'Kunci atau link ruang',
  openRoom: 'Buka ruang',
  keyChecking: 'Memeriksa kunci…',
  keyWrong: 'Kunci salah. Ini kunci untuk ruang lain.',
  keyWrongTriesLeft: { other: 'Kunci salah. Tersisa {n} percobaan.' },
  keyMistyped: 'Ada salah ketik pada kunci. Bandingkan dengan aslinya.',
  keyMalformed: 'Kunci terdiri dari 16 huruf dan angka, misalnya H4T9-WZ3B-NQ6Y-RC88.',
  keyLocked: 'Terlalu banyak kunci salah. Coba lagi dalam {time}.',
  encrypted: 'Ruang ini terenkripsi',
  encryptedWhat:
    'Teks, file, dan nama dienkripsi di perangkat Anda. Server menyimpannya, tetapi tidak dapat membacanya.',
  encryptedWho:
    'Siapa pun yang memiliki kunci dapat membaca dan mengubah semuanya. Kunci yang hilang tidak dapat dipulihkan.',
  encryptedLimits:
    'Server tetap melihat ukuran, waktu, dan alamat jaringan. Browser Anda juga menjalankan halaman yang dikirim server ini. Jika Anda tidak memercayai server untuk itu, gunakan command line.',
  roomKey: 'Kunci ruang',
  copyKey: 'Salin kunci',
  keepKey: 'Ingat kunci di perangkat ini',
  keepKeyHint: 'Jika tidak, perangkat ini melupakannya saat Anda menutup tab.',
  linkHasKey: 'Link dan kode QR berisi kunci.',
  keyAttempts: { other: 'Seseorang memasukkan kunci yang salah {n} kali.' },
  fileDamaged: 'File ini rusak dan tidak dapat didekripsi.',
  fileInArchiveDamaged: '{name} rusak dan tidak dapat didekripsi.',
  nothingSaved: 'Tidak ada yang disimpan.',
  decrypting: 'Mendekripsi…',
  cancelDownload: 'Batalkan download {name}',
  tooLargeToSave:
    'Browser ini tidak dapat menyimpan file terenkripsi di atas {size}. Gunakan Chrome atau Edge di komputer, atau baris perintah.',
  tooLargeToShow: 'File ini terlalu besar untuk ditampilkan di sini. Download file ini.',
  rollbackTitle: 'Server mengirim teks yang lebih lama',
  rollbackHint:
    'Perangkat ini sudah melihat versi yang lebih baru. Server mungkin dipulihkan dari cadangan, atau seseorang menyembunyikan perubahan dari Anda.',
  forkTitle: 'Server mengirim teks yang berbeda',
  forkHint:
    'Teks ini tidak melanjutkan versi yang telah dilihat perangkat ini. Seseorang mungkin telah mengganti perubahan di ruang ini.',
  damagedTitle: 'Data ruang ini rusak',
  damagedHint:
    'Data tidak dapat didekripsi karena diubah di server atau dienkripsi dengan kunci lain. Tidak ada yang ditimpa.',
  notEncryptedTitle: 'Ruang ini tidak terenkripsi',
  notEncryptedHint:
    'Link Anda berisi kunci, tetapi menurut server ruang ini tidak terenkripsi. Tidak ada yang dikirim. Periksa link.',
  openAnyway: 'Tetap buka',
  openAnywayHint: 'Salin teks Anda dulu. Perubahan yang belum terkirim akan hilang.',
};
