// An SMTP server that rejects recipients or hangs when a test says so; test/support/mailbox.ts accepts everything.
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface FaultySmtpServer {
  url: string;
  port: number;
  /** Accepted messages, as they came over the wire. */
  delivered: { to: string; source: string }[];
  /** Senders and recipients that are rejected, each with an SMTP reply code. */
  rejections: Map<string, number>;
  /** From now on, messages are read and not answered. */
  hang(): void;
  /** Resolves when a message was read and not answered. */
  hung: Promise<void>;
  close(): Promise<void>;
}

const failure = (responseCode: number) => Object.assign(new Error('No'), { responseCode });

export async function faultySmtpServer(port = 0): Promise<FaultySmtpServer> {
  const delivered: FaultySmtpServer['delivered'] = [];
  const rejections = new Map<string, number>();
  let isHanging = false;
  let hangs = () => {};
  const hung = new Promise<void>((resolve) => {
    hangs = resolve;
  });
  const rejectOrAccept: SMTPServerOptions['onRcptTo'] = ({ address }, _session, callback) => {
    const code = rejections.get(address);
    callback(code === undefined ? null : failure(code));
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 10,
    onMailFrom: rejectOrAccept,
    onRcptTo: rejectOrAccept,
    onData(stream, { envelope }, callback) {
      void readText(stream).then((source) => {
        if (isHanging) return hangs();
        delivered.push({ to: envelope.rcptTo.map(({ address }) => address).join(), source });
        return callback();
      });
    },
  });
  server.on('error', () => {}); // a client that was killed resets its connection
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  const listening = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `smtp://127.0.0.1:${listening}`,
    port: listening,
    delivered,
    rejections,
    hang: () => {
      isHanging = true;
    },
    hung,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
