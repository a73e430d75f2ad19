/**
 * The text of an access token: `gzt.NAME.SECRET`. The name is that of its user, so that a service finds the user, counts
 * failed logins and writes its log as for a password. The secret is 256 random bits. The prefix lets people, and programs that
 * search for leaked secrets, recognise a token. All characters are allowed in a Bearer header (RFC 6750, 2.1).
 */
const TOKEN = /^gzt\.([A-Za-z0-9][A-Za-z0-9_-]{0,63})\.([A-Za-z0-9_-]{43})$/;

export interface AccessToken {
  readonly name: string;
  readonly secret: string;
}

export const formatToken = ({ name, secret }: AccessToken): string => `gzt.${name}.${secret}`;

/** Returns undefined if the text is not a token. */
export function parseToken(text: string): AccessToken | undefined {
  const [, name, secret] = TOKEN.exec(text) ?? [];
  return name === undefined || secret === undefined ? undefined : { name, secret };
}
