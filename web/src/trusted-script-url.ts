/** URLs of scripts. The Content-Security-Policy rejects plain strings, and allows one policy that creates them. */

interface Policy {
  createScriptURL(url: string): string;
}

const { trustedTypes } = window as { trustedTypes?: { createPolicy(name: string, rules: Policy): Policy } };
const policy = trustedTypes?.createPolicy('poproom', { createScriptURL: (url) => url });

/** Only for the fixed paths of our own scripts. */
export const trustedScriptUrl = (path: string): string => policy?.createScriptURL(path) ?? path;
