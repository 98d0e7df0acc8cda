// A directory for tests: an LDAP server over one list of entries, which records every bind and search. Quirks make it answer as
// a broken or hostile one.
import net from 'node:net';
import tls from 'node:tls';
import { Ber, BerReader, BerWriter } from 'ldapts';

export interface DirectoryEntry {
  dn: string;
  password?: string;
  attributes: Record<string, string[] | Buffer[]>;
  /** As Active Directory, which answers the right password with this code: `533` for a disabled account. */
  rejection?: string;
  /** Wrong passwords since the last right one. */
  badPwdCount?: number;
}

export interface DirectoryQuirks {
  /** Answers a bind as this DN with a result code and a message, as Active Directory does. */
  bind?: (dn: string) => { code: number; message?: string } | undefined;
  /** DNs that a search returns instead. */
  searchDns?: string[];
  /** A reference to another server in place of entries. */
  reference?: string;
  /** Result code of every search. */
  searchCode?: number;
  /** Answers nothing. */
  hangs?: boolean | 'at the search';
  /** As Active Directory: locks an account after so many wrong passwords, and says why it rejects a right one. */
  lockoutThreshold?: number;
  /** Milliseconds before each answer to a bind of a user. */
  bindDelay?: number;
  /** Plain bytes that follow the answer to StartTLS. */
  afterStartTls?: Buffer;
}

export interface TestDirectory {
  url: string;
  entries: DirectoryEntry[];
  quirks: DirectoryQuirks;
  /** DN and password of each bind, and the filter of each search, in their order. */
  binds: { dn: string; password: string; isTls: boolean }[];
  searches: { base: string; filter: string }[];
  stop(): Promise<void>;
}

const BIND = 0x60;
const UNBIND = 0x42;
const SEARCH = 0x63;
const EXTENDED = 0x77;
const INVALID_CREDENTIALS = 49;

/** @param certificate of TLS: from the beginning, or after StartTLS with `startTls` */
export async function startDirectory(
  entries: DirectoryEntry[],
  certificate?: { key: string; cert: string; startTls?: boolean },
): Promise<TestDirectory> {
  const sockets = new Set<net.Socket>();
  const directory: Omit<TestDirectory, 'url' | 'stop'> = { entries, quirks: {}, binds: [], searches: [] };
  const accept = (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    serve(socket, directory, certificate);
  };
  const isTls = certificate !== undefined && !certificate.startTls;
  const server = isTls ? tls.createServer(certificate, accept) : net.createServer(accept);
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  return Object.assign(directory, {
    url: `${isTls ? 'ldaps' : 'ldap'}://localhost:${port}`,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}

function serve(
  socket: net.Socket,
  directory: Omit<TestDirectory, 'url' | 'stop'>,
  certificate: { key: string; cert: string } | undefined,
): void {
  let rest = Buffer.alloc(0);
  socket.on('data', (data) => {
    rest = Buffer.concat([rest, data]);
    for (;;) {
      const reader = new BerReader(rest);
      if (rest.length < 2 || reader.readSequence() === null || reader.remain < reader.length) return;
      const end = reader.offset + reader.length;
      const message = new BerReader(rest.subarray(0, end));
      rest = rest.subarray(end);
      message.readSequence();
      if (directory.quirks.hangs !== true) answer(socket, directory, message, certificate);
    }
  });
}

function answer(
  socket: net.Socket,
  directory: Omit<TestDirectory, 'url' | 'stop'>,
  message: BerReader,
  certificate: { key: string; cert: string } | undefined,
): void {
  const { quirks } = directory;
  const id = message.readInt() ?? 0;
  const operation = message.readSequence();
  if (operation === UNBIND) socket.end();
  else if (operation === BIND) {
    message.readInt();
    const dn = message.readString() ?? '';
    const password = message.readString(0x80) ?? '';
    directory.binds.push({ dn, password, isTls: socket instanceof tls.TLSSocket });
    const { code, message: text } = quirks.bind?.(dn) ?? bindResult(directory, dn, password);
    setTimeout(() => socket.write(result(id, 0x61, code, text)), quirks.bindDelay ?? 0);
  } else if (operation === SEARCH) {
    if (quirks.hangs) return;
    const base = message.readString() ?? '';
    const isBase = message.readEnumeration() === 0;
    message.readEnumeration();
    message.readInt();
    message.readInt();
    message.readBoolean();
    const matches = readFilter(message);
    directory.searches.push({ base, filter: matches.text });
    const isIn = ({ dn }: DirectoryEntry) => (isBase ? dn.toLowerCase() === base.toLowerCase() : isWithin(dn, base));
    const hits = directory.entries.filter((entry) => isIn(entry) && matches.test(entry));
    const found =
      quirks.searchDns?.map((dn) => ({ ...(hits[0] ?? directory.entries[0]), dn }) as DirectoryEntry) ?? hits;
    if (quirks.reference) socket.write(searchReference(id, quirks.reference));
    else for (const entry of found) socket.write(searchEntry(id, entry));
    socket.write(result(id, 0x65, quirks.searchCode ?? 0));
  } else if (operation === EXTENDED && certificate) {
    socket.removeAllListeners('data');
    socket.write(Buffer.concat([result(id, 0x78, 0), quirks.afterStartTls ?? Buffer.alloc(0)]), () => {
      const secured = new tls.TLSSocket(socket, { ...certificate, isServer: true });
      secured.on('error', () => {});
      serve(secured, directory, undefined);
    });
  }
}

const isWithin = (dn: string, base: string) => dn.toLowerCase().endsWith(base.toLowerCase());

/**
 * RFC 4513 5.1.2: without a password the bind is anonymous, and succeeds. With `lockoutThreshold` or `rejection` as Samba 4.17 answers
 * (test/peers/samba.ts): `data 775` to every password of a locked account, `data 52e` to a wrong password and an unknown DN, and the
 * code of a rejection only to the right password, which costs nothing.
 */
function bindResult(
  { entries, quirks }: Pick<TestDirectory, 'entries' | 'quirks'>,
  dn: string,
  password: string,
): { code: number; message?: string } {
  if (dn === '' || password === '') return { code: 0 };
  const { lockoutThreshold = Number.POSITIVE_INFINITY } = quirks;
  const entry = entries.find((one) => one.dn.toLowerCase() === dn.toLowerCase());
  if (!entry) return rejected('52e');
  if ((entry.badPwdCount ?? 0) >= lockoutThreshold) return rejected('775');
  if (entry.password === undefined || entry.password !== password) {
    entry.badPwdCount = (entry.badPwdCount ?? 0) + 1;
    return rejected('52e');
  }
  if (entry.rejection !== undefined) return rejected(entry.rejection);
  entry.badPwdCount = 0;
  return { code: 0 };
}

const rejected = (data: string) => ({
  code: INVALID_CREDENTIALS,
  message: `80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data ${data}, v1db1`,
});

interface Matcher {
  text: string;
  test(entry: DirectoryEntry): boolean;
}

function readFilter(reader: BerReader): Matcher {
  const tag = reader.readSequence() ?? 0;
  const end = reader.offset + reader.length;
  if (tag === 0xa0 || tag === 0xa1) {
    const parts: Matcher[] = [];
    while (reader.offset < end) parts.push(readFilter(reader));
    const text = `(${tag === 0xa0 ? '&' : '|'}${parts.map((part) => part.text).join('')})`;
    const test = (entry: DirectoryEntry) =>
      tag === 0xa0 ? parts.every((part) => part.test(entry)) : parts.some((part) => part.test(entry));
    return { text, test };
  }
  if (tag === 0xa3) {
    const name = reader.readString() ?? '';
    const value = reader.readString(Ber.OctetString, true) ?? Buffer.alloc(0);
    return { text: `(${name}=${value})`, test: (entry) => has(entry, name, value) };
  }
  if (tag === 0xa9) {
    const rule = reader.readString(0x81) ?? '';
    const name = reader.readString(0x82) ?? '';
    const value = Buffer.from(reader.readString(0x83) ?? '');
    return { text: `(${name}:${rule}:=${value})`, test: (entry) => has(entry, `${name}:${rule}`, value) };
  }
  // A presence filter, or one that no connection of the tests sends: it finds everything, so that an injected * is noticed.
  const name = reader.buffer.subarray(reader.offset, end).toString();
  reader.readString(reader.peek() ?? Ber.OctetString);
  return { text: `(${name}=*)`, test: () => true };
}

function has({ dn, attributes }: DirectoryEntry, name: string, value: Buffer): boolean {
  if (name.toLowerCase() === 'distinguishedname') return dn.toLowerCase() === String(value).toLowerCase();
  const [, values] = Object.entries(attributes).find(([key]) => key.toLowerCase() === name.toLowerCase()) ?? [];
  const isSame = (one: string | Buffer) =>
    Buffer.isBuffer(one) ? one.equals(value) : one.toLowerCase() === String(value).trim().toLowerCase();
  return (values ?? []).some(isSame);
}

function message(id: number, write: (writer: BerWriter) => void): Buffer {
  const writer = new BerWriter();
  writer.startSequence();
  writer.writeInt(id);
  write(writer);
  writer.endSequence();
  return writer.buffer;
}

export function result(id: number, operation: number, code: number, text = ''): Buffer {
  return message(id, (writer) => {
    writer.startSequence(operation);
    writer.writeEnumeration(code);
    writer.writeString('');
    writer.writeString(text);
    writer.endSequence();
  });
}

function searchEntry(id: number, { dn, attributes }: DirectoryEntry): Buffer {
  return message(id, (writer) => {
    writer.startSequence(0x64);
    writer.writeString(dn);
    writer.startSequence();
    for (const [name, values] of Object.entries(attributes)) {
      writer.startSequence();
      writer.writeString(name);
      writer.startSequence(0x31);
      for (const value of values)
        if (typeof value === 'string') writer.writeString(value);
        else writer.writeBuffer(value, Ber.OctetString);
      writer.endSequence();
      writer.endSequence();
    }
    writer.endSequence();
    writer.endSequence();
  });
}

function searchReference(id: number, url: string): Buffer {
  return message(id, (writer) => {
    writer.startSequence(0x73);
    writer.writeString(url);
    writer.endSequence();
  });
}
