// Serves style sheets, scripts and images from memory, under names that contain a hash of the content, so that browsers
// may cache them permanently. The list is read once: a request selects from it and never names a path.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Context, Middleware } from '../context.ts';
import { notFound } from '../errors.ts';

const inPackage = (entry: string, file: string) => fileURLToPath(new URL(file, import.meta.resolve(entry)));

/** Browser code of npm packages. */
const browserBundles = {
  'webauthn.js': inPackage('@simplewebauthn/browser', '../dist/bundle/index.umd.min.js'),
  // The build without inline style and workers, which the Content-Security-Policy would block.
  'altcha.js': inPackage('altcha/external', 'altcha.min.js'),
  'altcha.css': inPackage('altcha/external', 'altcha.css'),
  'altcha-worker.js': inPackage('altcha/workers/pbkdf2', 'pbkdf2.js'),
};

export type Assets = ReturnType<typeof createAssets>;

interface Asset {
  type: string;
  hash: string;
  encodings: Record<Encoding, () => Buffer>;
}

type Encoding = 'identity' | 'gzip' | 'br';

const PREFIX = '/assets/';
const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

/** Types that are compressed already. */
const COMPRESSED = new Set(['image/png', 'font/woff2']);

/** Reads every asset of `dirs` now: a missing folder stops the start, not a page. */
export function createAssets({
  dirs,
  extra = browserBundles,
  reload = false,
}: {
  dirs: readonly string[];
  /** Files outside `dirs`, such as a browser bundle of a package: name -> path. */
  extra?: Record<string, string>;
  /** Read from disk on each request, for development. */
  reload?: boolean;
}) {
  const files = new Map(
    dirs.flatMap((dir) =>
      filesIn(dir)
        .filter((name) => path.extname(name) in TYPES)
        .map((name) => [name, path.join(dir, name)] as const),
    ),
  );
  for (const [name, file] of Object.entries(extra)) files.set(name, file);
  const loaded = new Map([...files].map(([name, file]) => [name, load(file)]));

  function find(name: string): Asset | undefined {
    const file = files.get(name);
    return reload && file ? load(file) : loaded.get(name);
  }

  return {
    /** `/assets/people.<hash>.css` for `people.css`. */
    url(name: string): string {
      const asset = find(name);
      if (!asset) throw new Error(`there is no asset ${name}`);
      const extension = path.extname(name);
      return `${PREFIX}${name.slice(0, -extension.length)}.${asset.hash}${extension}`;
    },
    /** Serves `/assets/…`. */
    serve: ((ctx, next) => {
      if (!ctx.path.startsWith(PREFIX)) return next();
      ctx.state.route = '/assets/:name';
      const match = /^([\w-]+)\.([0-9a-f]{16})(\.\w+)$/.exec(ctx.path.slice(PREFIX.length));
      const asset = match ? find(`${match[1]}${match[3]}`) : undefined;
      if (!match || !asset || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) throw notFound();
      send(ctx, asset, match[2] === asset.hash);
      return Promise.resolve();
    }) satisfies Middleware,
  };
}

function filesIn(dir: string): string[] {
  if (!existsSync(dir)) throw new Error(`ENOENT: there is no folder ${dir}. Run "npm install" and "npm run build".`);
  return readdirSync(dir);
}

function send(ctx: Context, { type, hash, encodings }: Asset, isCurrent: boolean): void {
  // Another hash belongs to a page of the previous or next release, during a rolling upgrade: the current file is better
  // than none, but must not be cached under that name.
  ctx.set('Cache-Control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-store');
  ctx.type = type;
  ctx.vary('Accept-Encoding');
  const encoding = COMPRESSED.has(type) ? 'identity' : chosenEncoding(ctx);
  // A strong ETag identifies bytes, so each encoding has its own.
  ctx.set('ETag', `"${hash}-${encoding}"`);
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (encoding !== 'identity') ctx.set('Content-Encoding', encoding);
  ctx.body = encodings[encoding]();
}

function chosenEncoding(ctx: Context): Encoding {
  // Checked one by one: browsers list gzip first, but brotli is smaller.
  if (ctx.acceptsEncodings('br')) return 'br';
  return ctx.acceptsEncodings('gzip') ? 'gzip' : 'identity';
}

function load(file: string): Asset {
  const content = readFileSync(file);
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  return {
    type: TYPES[path.extname(file)] ?? 'application/octet-stream',
    hash: createHash('sha256').update(content).digest('hex').slice(0, 16),
    encodings: {
      identity: () => content,
      // Compressed at first use: some milliseconds once, and none at the start.
      gzip: once(() => gzipSync(content, { level: 9 })),
      br: once(() => brotliCompressSync(content, brotli)),
    },
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
