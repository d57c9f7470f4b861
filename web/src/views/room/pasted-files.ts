/** The files in a drop or a paste. */

export function filesIn(transfer: DataTransfer | null): File[] {
  return Array.from(transfer?.files ?? [], withTellingName);
}

/** Browsers call every pasted picture the same. */
function withTellingName(file: File): File {
  if (!/^image\.(png|jpe?g)$/.test(file.name)) return file;
  const [date, time = ''] = new Date().toISOString().slice(0, 19).split('T');
  const name = `screenshot-${date}-${time.replaceAll(':', '')}.${file.type === 'image/jpeg' ? 'jpg' : 'png'}`;
  return new File([file], name, { type: file.type });
}
