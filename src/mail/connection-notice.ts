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
      ? 'Identity providers that check its end reject this server from then on. Publish the next one, have the operators of the identity providers read the metadata of this server again, then activate it.'
      : `From then on nobody can sign in with ${name}. Have a new one issued at the provider and add it here before that day; the old one may stay until then.`;
  return {
    subject: `${name === undefined ? 'A SAML certificate of this server' : `A secret or certificate of ${name}`} ends on ${day}`,
    preheader: host,
    paragraphs: [hello, text, advice],
    action: {
      label: 'Open it in the console',
      url: link(name === undefined ? '/admin/keys' : `/admin/connections/${connectionId ?? ''}`),
    },
    after: [],
  };
}
