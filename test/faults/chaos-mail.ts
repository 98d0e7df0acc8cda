// A mail server for chaos.ts that is silent, resets or is gone for a while, and a count of what it has accepted.
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../../src/server/services.ts';

const PAUSE_MS = 1000;

export type MailFault = 'good' | 'silent' | 'resets' | 'refuses';

export interface ChaosMail {
  port: number;
  become(fault: MailFault): Promise<void>;
  /** Queues a mail every second until `end`, for as long as the database can be used; returns the recipients. */
  queue(services: Services, isOver: () => boolean): Promise<string[]>;
  /** The recipients of the mails that were accepted. */
  reached: Set<string>;
  /** How often each mail was accepted, by its Message-ID. */
  accepted: Map<string, number>;
  close(): Promise<void>;
}

export async function chaosMail(): Promise<ChaosMail> {
  const reached = new Set<string>();
  const accepted = new Map<string, number>();
  const sockets = new Set<Socket>();
  let mode: MailFault = 'good';
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    if (mode === 'resets') socket.resetAndDestroy();
    else if (mode === 'good') serve(socket);
  });
  // RFC 5321, as far as one client needs it.
  function serve(socket: Socket): void {
    let rest = '';
    let to = '';
    let isData = false;
    socket.write('220 chaos ESMTP\r\n');
    socket.setEncoding('utf8').on('data', (text) => {
      if (mode !== 'good') return mode === 'resets' ? void socket.resetAndDestroy() : undefined;
      rest += text;
      for (;;) {
        const end = isData ? rest.indexOf('\r\n.\r\n') : rest.indexOf('\r\n');
        if (end < 0) return;
        const part = rest.slice(0, end);
        rest = rest.slice(end + (isData ? 5 : 2));
        if (isData) {
          isData = false;
          const id = /^message-id: (.*)$/im.exec(part)?.[1] ?? '';
          accepted.set(id, (accepted.get(id) ?? 0) + 1);
          reached.add(to);
          socket.write('250 accepted\r\n');
        } else if (/^DATA/i.test(part)) {
          isData = true;
          socket.write('354 go on\r\n');
        } else if (/^QUIT/i.test(part)) socket.end('221 bye\r\n');
        else {
          to = /^RCPT TO:<(.*)>/i.exec(part)?.[1] ?? to;
          socket.write('250 ok\r\n');
        }
      }
    });
  }
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const stop = () =>
    new Promise<void>((resolve) => {
      if (server.listening) server.close(() => resolve());
      else resolve();
      for (const socket of sockets) socket.destroy();
    });
  await listen(0);
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;

  return {
    port,
    reached,
    accepted,
    async become(fault) {
      mode = fault;
      if (fault === 'refuses') await stop();
      else if (!server.listening) await listen(port);
      // What it left unanswered never gets an answer.
      if (fault === 'good') for (const socket of sockets) socket.destroy();
    },
    async queue({ outbox }, isOver) {
      const recipients: string[] = [];
      for (let count = 1; !isOver(); count += 1) {
        const email = `mail-${count}@example.com`;
        const to = { email, username: `mail-${count}` } as never;
        const isQueued = await outbox.send({ kind: 'no-password-here', to }).then(
          () => true,
          () => false,
        );
        if (isQueued) recipients.push(email);
        await sleep(PAUSE_MS);
      }
      return recipients;
    },
    close: stop,
  };
}
