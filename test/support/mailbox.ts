// A real SMTP server on loopback that keeps what it receives, read by another library than the one that sent it.
import { once } from 'node:events';
import { buffer as readBuffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  /** Envelope addresses: where it really went. */
  from: string;
  to: string[];
  subject: string;
  text: string;
  html: string;
  headers: Email['headers'];
  /** As it came over the wire. */
  source: string;
}

export interface Mailbox {
  /** For SMTP_URL. */
  url: string;
  port: number;
  messages: ReceivedMail[];
  /** The oldest mail to this address that no call has returned yet; waits for it. */
  waitForMail(to: string, options?: { seconds?: number }): Promise<ReceivedMail>;
  /** Rejects the next messages: with a temporary failure (451), as a busy server does, or with another code. */
  rejectNext(count: number, responseCode?: number): void;
  close(): Promise<void>;
}

export interface MailboxOptions {
  /** Demands them; anybody may send by default. */
  credentials?: { username: string; password: string };
  /** Offers STARTTLS, or TLS from the start, with a certificate that nobody trusts. */
  tls?: 'starttls' | 'implicit';
}

/** Starts an SMTP server on a free port. */
export async function mailbox({ credentials, tls }: MailboxOptions = {}): Promise<Mailbox> {
  const messages: ReceivedMail[] = [];
  const taken = new Set<ReceivedMail>();
  const arrived = new Set<() => void>();
  let rejections = 0;
  let rejectedWith = 451;

  const server = new SMTPServer({
    authOptional: credentials === undefined,
    allowInsecureAuth: true,
    secure: tls === 'implicit',
    disabledCommands: tls === 'starttls' ? [] : ['STARTTLS'],
    disableReverseLookup: true,
    onAuth({ username, password }, _session, callback) {
      const isRight = username === credentials?.username && password === credentials?.password;
      if (!credentials || isRight) callback(null, { user: username });
      // As some servers do, with what they got.
      else callback(Object.assign(new Error(`No: ${password}`), { responseCode: 535 }));
    },
    onData(stream, session, callback) {
      readBuffer(stream)
        .then(async (source) => {
          if (rejections > 0) {
            rejections -= 1;
            throw Object.assign(new Error('Not now, or never'), { responseCode: rejectedWith });
          }
          const { mailFrom, rcptTo } = session.envelope;
          messages.push(
            await read(
              source,
              mailFrom ? mailFrom.address : '',
              rcptTo.map(({ address }) => address),
            ),
          );
          callback();
          for (const wake of arrived) wake();
        })
        .catch(callback);
    },
  });
  server.on('error', () => {}); // a client that rejects the certificate
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('The SMTP server has no port');

  const waitForMail: Mailbox['waitForMail'] = async (to, { seconds = 20 } = {}) => {
    const deadline = Date.now() + seconds * 1000;
    for (;;) {
      const mail = messages.find((one) => !taken.has(one) && one.to.includes(to));
      if (mail) {
        taken.add(mail);
        return mail;
      }
      const remaining = deadline - Date.now();
      if (remaining <= 0) throw new Error(`No mail to ${to} within ${seconds} s (${messages.length} to others)`);
      await signal(arrived, remaining);
    }
  };

  return {
    url: `smtp://127.0.0.1:${address.port}`,
    port: address.port,
    messages,
    waitForMail,
    rejectNext: (count, responseCode = 451) => {
      rejections = count;
      rejectedWith = responseCode;
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function signal(arrived: Set<() => void>, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      arrived.delete(done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    arrived.add(done);
  });
}

async function read(source: Buffer, from: string, to: string[]): Promise<ReceivedMail> {
  const { subject = '', text = '', html = '', headers } = await PostalMime.parse(source);
  return { from, to, subject, text, html, headers, source: source.toString('utf8') };
}
