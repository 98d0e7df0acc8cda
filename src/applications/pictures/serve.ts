// Serves the pictures of applications below /assets/, as those of brands.

import type { Middleware } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { isImageName } from '../../core/settings/value-schemas.ts';
import { sendPicture } from '../brand/serve.ts';
import { type ApplicationPictures, PICTURE_PATH } from './pictures.ts';

/** Runs before the middleware of the assets. */
export function serveApplicationPictures(pictures: Pick<ApplicationPictures, 'read'>): Middleware {
  return async (ctx, next) => {
    if (!ctx.path.startsWith(PICTURE_PATH)) return next();
    ctx.state.route = '/assets/:name';
    const name = ctx.path.slice(PICTURE_PATH.length);
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    const bytes = isRead && isImageName(name) ? await pictures.read(name) : undefined;
    if (!bytes) throw notFound();
    sendPicture(ctx, name, bytes);
  };
}
