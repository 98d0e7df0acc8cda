// The mails to administrators about a secret or certificate of a connection that ends, and about one that was rejected.
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

export interface ConnectionRejectedNotice {
  connection: string;
  connectionId: string;
  /** What the upstream answered. */
  detail: string;
  /** Else it is an OpenID Connect or OAuth 2.0 provider. */
  isDirectory: boolean;
}

interface Parts<Notice> {
  message: Notice;
  hello: string;
  host: string;
  /** An address of this server. */
  link(path: string): string;
}

type MailText = Omit<MailContent, 'service'>;

/** Its text, and a link to the page of the console that helps. */
export function connectionEndText({ message, hello, host, link }: Parts<ConnectionEndNotice>): MailText {
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

/** The password of the account that searches a directory is wrong, or the account may not sign in; or a client secret is wrong. */
export function connectionRejectedText({ message, hello, host, link }: Parts<ConnectionRejectedNotice>): MailText {
  const name = short(message.connection);
  const action = { label: 'Open in console', url: link(`/admin/connections/${message.connectionId}`) };
  if (!message.isDirectory)
    return {
      subject: `${name} rejected the client ID or secret, so people can’t sign in with it`,
      preheader: host,
      paragraphs: [
        hello,
        `${name} rejected the client ID or the secret of Gatehouse: ${short(message.detail)}`,
        'The secret may have expired or been replaced at the provider. Until you add the right one in the console, people can’t sign in with this connection.',
      ],
      action,
      after: [],
    };
  return {
    subject: `${name} rejected its password, so people can’t sign in with it`,
    preheader: host,
    paragraphs: [
      hello,
      `${name} rejected the password of the account that searches the directory: ${short(message.detail)}`,
      'Gatehouse doesn’t send this password again, because that could lock the account. Until you add the right one in the console, people can’t sign in with this connection. If the password is right and the account was locked or disabled, choose Try it there once that has ended.',
    ],
    action,
    after: [],
  };
}
