// Service providers of the file: metadata from a file, inline, by hand, and from a URL that may be down.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testFolder } from '../support/database/database.ts';
import { configFileBench, lines } from './support.ts';

let bench: Awaited<ReturnType<typeof configFileBench>>;
beforeAll(async () => {
  bench = await configFileBench();
});
afterAll(() => bench.close());

const xml = (entityId: string) => `<EntityDescriptor entityID="${entityId}"/>`;
const url = 'https://sp.example/metadata';
const byUrl = `service_providers: [{ name: Remote, metadata_url: "${url}" }]`;
const stored = (entityId: string) => bench.applications.find(entityId);

describe('a service provider', () => {
  it('keeps its endpoints in order when it is declared by hand', async () => {
    await bench.apply(`
service_providers:
  - name: CRM
    entity_id: urn:crm
    acs_url: [https://crm.example/acs, https://crm.example/acs2]
    slo_url: { url: https://crm.example/slo, binding: post }`);
    expect((await stored('urn:crm'))?.metadata).toMatchObject({
      acs: [
        { url: 'https://crm.example/acs', index: 0, default: true },
        { url: 'https://crm.example/acs2', index: 1, default: false },
      ],
      slo: [{ url: 'https://crm.example/slo', binding: 'post' }],
    });
  });

  it('may set indexes and the default endpoint when it is declared by hand', async () => {
    const text = `
service_providers:
  - name: CRM
    entity_id: urn:crm
    acs_url: [https://crm.example/acs, { url: https://crm.example/acs2, index: 7, default: true }]`;
    await bench.apply(text);
    expect((await stored('urn:crm'))?.metadata).toMatchObject({
      acs: [
        { url: 'https://crm.example/acs', index: 0, default: false },
        { url: 'https://crm.example/acs2', index: 7, default: true },
      ],
    });
    expect(lines(await bench.apply(text))).toEqual([]);
  });

  it('is rejected with its position when its metadata cannot be read or accepted', async () => {
    const file = path.join(testFolder(), 'gatehouse.yaml');
    const text = 'service_providers:\n  - name: A\n    metadata_file: none.xml\n  - name: B\n    metadata: <x/>';
    expect(lines(await bench.apply(text, file))).toEqual([
      expect.stringMatching(/^f:3:5: service_providers\[0\]\.metadata_file: cannot be read: .*none\.xml \(ENOENT\)$/),
      'f:5:5: service_providers[1].metadata: The entity ID is missing.',
    ]);
  });

  it('is rejected when its entity ID is in use or differs from its metadata', async () => {
    const text = `
clients: [{ client_id: "urn:a", redirect_uris: ["https://a.example/"] }]
service_providers:
  - { name: A, metadata: '${xml('urn:a')}' }
  - { name: B, metadata: '${xml('urn:b')}' }
  - { name: C, metadata: '${xml('urn:b')}' }
  - { name: D, metadata: '${xml('urn:d')}', entity_id: "urn:e" }`;
    await bench.apply('clients: [{ client_id: "urn:a", redirect_uris: ["https://a.example/"] }]');
    expect(lines(await bench.apply(text)).map((line) => line.replace(/^f:\d+:\d+: /, ''))).toEqual([
      expect.stringContaining('service_providers[0] has an entity ID that is the client_id of a client: urn:a'),
      expect.stringContaining('service_providers[2] has the entity ID of service_providers[1]: urn:b'),
      expect.stringContaining('service_providers[3].entity_id doesn’t match the metadata, which has urn:d'),
    ]);
  });

  it('is skipped with a warning while its URL is down, and created later', async () => {
    const down = await bench.apply(byUrl);
    expect(down).toMatchObject({
      ok: true,
      plan: { warnings: [`service provider Remote was left out: ${url} does not answer`] },
    });
    bench.documents.set(url, xml('urn:remote'));
    expect(lines(await bench.apply(byUrl))).toEqual(['create service_providers Remote']);
    expect((await stored('urn:remote'))?.metadata).toMatchObject({
      metadata_url: url,
      metadata_xml: xml('urn:remote'),
    });
  });

  it('keeps refreshed metadata, which is not fetched at each apply', async () => {
    bench.documents.clear();
    expect(lines(await bench.apply(byUrl))).toEqual([]);
  });

  it('does not change while its new URL is down', async () => {
    const moved = byUrl.replace('metadata"', 'moved"');
    expect(lines(await bench.apply(moved))).toEqual([]);
    expect(await stored('urn:remote')).toBeDefined();
  });

  it('stays registered when its metadata has expired', async () => {
    const file = path.join(testFolder(), 'gatehouse.yaml');
    writeFileSync(path.join(path.dirname(file), 'sp.xml'), xml('urn:aged'));
    const text = 'service_providers: [{ name: Aged, metadata_file: sp.xml }]';
    await bench.apply(text, file);
    bench.expired.add('urn:aged');
    expect(lines(await bench.apply(text, file))).toEqual([]);
    const changed = text.replace('name: Aged', 'name: Old');
    expect(lines(await bench.apply(changed, file))).toEqual(['change service_providers Old (name)']);
  });
});
