// Serves the style sheets and the pictures of brands, below /assets/ and before the files there. A picture is only for <img>: opened
// as a page of its own, it may load and run nothing.
import type { Context, Middleware } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { type ImageStore, imageType } from './image-store.ts';
import { sheetNamed } from './sheet.ts';

const PREFIX = '/assets/brand';
const IMAGE = /^\/assets\/brand-([0-9a-f]{32}\.(png|jpg|svg))$/;
const IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
const FOREVER = 'public, max-age=31536000, immutable';

/** Runs before the middleware of the assets. */
export function serveBrand(images: ImageStore): Middleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith(PREFIX)) return next();
    ctx.state.route = '/assets/:name';
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw notFound();
    const [, image] = IMAGE.exec(ctx.path) ?? [];
    if (image === undefined) return sendSheet(ctx);
    const bytes = await images.read(image);
    if (!bytes) throw notFound();
    sendPicture(ctx, image, bytes);
  };
}

/** A picture under the hash of its content, which browsers cache permanently. */
export function sendPicture(ctx: Context, name: string, bytes: Buffer): void {
  ctx.set('Content-Security-Policy', IMAGE_POLICY);
  ctx.type = imageType(name);
  send(ctx, bytes, { tag: name.slice(0, 32), isCurrent: true });
}

function sendSheet(ctx: Context): void {
  const name = ctx.path.slice('/assets/'.length);
  const sheet = sheetNamed(name);
  if (!sheet) throw notFound();
  ctx.type = 'text/css; charset=utf-8';
  // Another version of the server makes other colors of the same one, during a rolling upgrade.
  send(ctx, sheet.css, { tag: sheet.name, isCurrent: sheet.name === name });
}

function send(ctx: Context, body: string | Buffer, { tag, isCurrent }: { tag: string; isCurrent: boolean }): void {
  ctx.set('Cache-Control', isCurrent ? FOREVER : 'no-store');
  ctx.set('ETag', `"${tag}"`);
  ctx.status = 200;
  if (ctx.fresh) ctx.status = 304;
  else ctx.body = body;
}
