// A mail server that misbehaves as it is told; test/support/mailbox.ts is the one that behaves.
import { once } from 'node:events';
import { text as readText } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export interface OddSmtpServer {
  url: string;
  port: number;
  /** Messages taken, as they came over the wire. */
  taken: { to: string; source: string }[];
  /** Recipients that are answered with this code. */
  refuse: Map<string, number>;
  /** Messages are read, and then nothing is said. */
  hang(): void;
  /** Resolves when a message was read while hanging. */
  hung: Promise<void>;
  close(): Promise<void>;
}

const failure = (responseCode: number) => Object.assign(new Error('No'), { responseCode });

export async function oddSmtpServer(port = 0): Promise<OddSmtpServer> {
  const taken: OddSmtpServer['taken'] = [];
  const refuse = new Map<string, number>();
  let isHanging = false;
  let hangs = () => {};
  const hung = new Promise<void>((resolve) => {
    hangs = resolve;
  });
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 10,
    onRcptTo({ address }, _session, callback) {
      const code = refuse.get(address);
      callback(code === undefined ? null : failure(code));
    },
    onData(stream, { envelope }, callback) {
      void readText(stream).then((source) => {
        if (isHanging) return hangs();
        taken.push({ to: envelope.rcptTo.map(({ address }) => address).join(), source });
        return callback();
      });
    },
  });
  server.on('error', () => {}); // clients that were killed
  server.listen(port, '127.0.0.1');
  await once(server.server, 'listening');
  const address = server.server.address();
  const listening = typeof address === 'object' && address ? address.port : 0;
  return {
    url: `smtp://127.0.0.1:${listening}`,
    port: listening,
    taken,
    refuse,
    hang: () => {
      isHanging = true;
    },
    hung,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
