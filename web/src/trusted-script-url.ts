/** URLs of scripts. The Content-Security-Policy rejects plain strings, and allows one policy that creates them. */

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
const policy = trustedTypes?.createPolicy('poproom', { createScriptURL: (url) => url });

/** Only for the fixed paths of our own scripts. */
export const trustedScriptUrl = (path: string): string => policy?.createScriptURL(path) ?? path;
