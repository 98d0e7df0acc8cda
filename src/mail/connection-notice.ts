// The mail to administrators about a secret or certificate of a connection that ends.
import type { MailContent } from './content.ts';
import { describeDay, short } from './wording.ts';

/** What the mail contains. */
export interface ConnectionEndNotice {
  /** Name and ID; absent for a certificate of this server. */
  connection?: string;
  connectionId?: string;
  /** One sentence: what ends, of which connection, and when. */
  text: string;
  until: Date;
}

interface Parts {
  message: ConnectionEndNotice;
  hello: string;
  host: string;
  /** An address of this server. */
  link(path: string): string;
}

/** Its text, and a link to the page of the console that helps. */
export function connectionEndText({ message, hello, host, link }: Parts): Omit<MailContent, 'service'> {
  const { connection, connectionId, text, until } = message;
  const day = describeDay(until);
  const name = connection === undefined ? undefined : short(connection);
  const advice =
    name === undefined
      ? 'After that day, some identity providers will reject this server. Publish the next certificate, ask each identity provider to update the metadata of this server, then activate the certificate.'
      : `After that day, people can’t sign in with ${name}. Create a new one at the provider and add it here. The old one can stay until then.`;
  return {
    subject: `${name === undefined ? 'A SAML certificate of this server' : `A secret or certificate of ${name}`} expires on ${day}`,
    preheader: host,
    paragraphs: [hello, text, advice],
    action: {
      label: 'Open in console',
      url: link(name === undefined ? '/admin/keys' : `/admin/connections/${connectionId ?? ''}`),
    },
    after: [],
  };
}
