// A file in the format MaxMind DB (https://maxmind.github.io/MaxMind-DB/) with the countries of a few IPv4 networks /8.

const HEAD = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const [TEXT, UINT16, UINT32, MAP, UINT64] = [2, 5, 6, 7, 9];

const text = (value: string) => Buffer.concat([Buffer.of((TEXT << 5) | value.length), Buffer.from(value)]);

function number(type: number, value: number): Buffer {
  const size = type === UINT16 ? 2 : type === UINT32 ? 4 : 6;
  const bytes = Buffer.alloc(size);
  bytes.writeUIntBE(value, 0, size);
  return Buffer.concat([type > 7 ? Buffer.of(size, type - 7) : Buffer.of((type << 5) | size), bytes]);
}

const map = (entries: Record<string, Buffer>) =>
  Buffer.concat([
    Buffer.of((MAP << 5) | Object.keys(entries).length),
    ...Object.entries(entries).flatMap(([key, value]) => [text(key), value]),
  ]);

/** @param countries the first byte of the addresses -> the code of their country */
export function countryDatabase(countries: Record<number, string>, type = 'Test-Country'): Buffer {
  const data: Buffer[] = [];
  // Each node has two records: another node, a place in the data, or nothing.
  const nodes: [number?, number?][] = [[]];
  const places: { node: number; side: number; offset: number }[] = [];
  for (const [byte, code] of Object.entries(countries)) {
    let node = 0;
    for (let bit = 7; bit > 0; bit -= 1) {
      const side = (Number(byte) >> bit) & 1;
      const next = nodes[node]?.[side] ?? nodes.push([]) - 1;
      (nodes[node] ?? [])[side] = next;
      node = next;
    }
    places.push({ node, side: Number(byte) & 1, offset: Buffer.concat(data).length });
    data.push(map({ country: map({ iso_code: text(code) }) }));
  }
  const tree = Buffer.alloc(nodes.length * 6);
  for (const [at, sides] of nodes.entries())
    for (const side of [0, 1]) tree.writeUIntBE(sides[side] ?? nodes.length, at * 6 + side * 3, 3);
  for (const { node, side, offset } of places) tree.writeUIntBE(nodes.length + 16 + offset, node * 6 + side * 3, 3);
  const metadata = map({
    binary_format_major_version: number(UINT16, 2),
    binary_format_minor_version: number(UINT16, 0),
    build_epoch: number(UINT64, Date.UTC(2026, 10, 1) / 1000),
    database_type: text(type),
    ip_version: number(UINT16, 4),
    node_count: number(UINT32, nodes.length),
    record_size: number(UINT16, 24),
  });
  return Buffer.concat([tree, Buffer.alloc(16), ...data, HEAD, metadata]);
}
