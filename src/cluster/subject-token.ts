/** A name of any characters as one token of a subject of NATS. */
export const subjectToken = (name: string): string => Buffer.from(name).toString("base64url");
