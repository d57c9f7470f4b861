/** The beginning of a text file. */

export const maxTextBytes = 256 * 1024;

export interface TextFile {
  content: string;
  /** Whether the file is longer. */
  isCut: boolean;
}

/** Reads no more of the response than it needs. */
export async function readText(response: Response): Promise<TextFile> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let content = '';
  let space = maxTextBytes;
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    content += decoder.decode(next.value.subarray(0, space), { stream: true });
    space -= next.value.length;
    if (space >= 0) continue;
    await reader?.cancel();
    // Without the rest of the decoder: half a character would become a replacement character.
    return { content, isCut: true };
  }
  return { content: content + decoder.decode(), isCut: false };
}
