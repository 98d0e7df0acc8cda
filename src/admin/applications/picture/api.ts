// /api/admin/applications/{id}/picture: the picture of an application, where it comes from, and why there is none.
import { z } from 'zod';
import { imageLimits } from '../../../applications/brand/limits.ts';
import type { PictureState } from '../../../applications/pictures/pictures.ts';
import { bytesOf, imageData } from '../../../core/settings/value-schemas.ts';
import { within } from '../../../people/rbac/rights.ts';
import { type Endpoint, endpoint } from '../../api/endpoint.ts';
import { byId, done, iso, time } from '../../api/parts.ts';
import type { ApplicationAdmin } from '../actions.ts';

const tag = 'Applications';
const path = '/applications/{id}/picture';
const readPermissions = [within('gatehouse.applications:read')];
const writePermissions = [within('gatehouse.applications:write')];

const picture = z
  .object({
    address: z.string().nullable().describe('Path of the picture on this server; null while there is none'),
    source: z.enum(['uploaded', 'logo_uri', 'none']),
    url: z.string().nullable().describe('The logo_uri that it is read from'),
    failure: z.string().nullable().describe('Why the last try to read it failed'),
    next_try_at: time.nullable(),
  })
  .meta({ id: 'ApplicationPicture' });

const newPicture = z.strictObject({
  picture: imageData.describe(
    `A PNG, JPEG or SVG as a data URL such as data:image/png;base64,…, up to ${imageLimits.bytes / 1000} KB`,
  ),
});

/** Reading where the picture comes from, uploading one, removing it, and reading that of the logo_uri again. */
export function pictureEndpoints(applications: ApplicationAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path,
      operationId: 'getApplicationPicture',
      tag,
      needs: readPermissions,
      summary: 'Where the picture of an application comes from, and where it is on this server',
      params: byId,
      response: picture,
      handle: async ({ params, by }) => ({ body: pictureJson(await applications.pictureState(params.id, by)) }),
    }),
    endpoint({
      method: 'put',
      path,
      operationId: 'setApplicationPicture',
      tag,
      needs: writePermissions,
      maxBodyBytes: imageLimits.requestBytes,
      summary: 'Uploads a picture, which replaces that of the logo_uri until it is removed',
      params: byId,
      body: newPicture,
      response: picture,
      async handle({ params, body, by }) {
        await applications.choosePicture(params.id, bytesOf(body.picture), by);
        return { body: pictureJson(await applications.pictureState(params.id, by)) };
      },
    }),
    endpoint({
      method: 'delete',
      path,
      operationId: 'removeApplicationPicture',
      tag,
      needs: writePermissions,
      summary: 'Removes an uploaded picture; that of the logo_uri takes its place',
      params: byId,
      status: 204,
      handle: async ({ params, by }) => void (await applications.removePicture(params.id, by)),
    }),
    endpoint({
      method: 'post',
      path: `${path}/fetch`,
      operationId: 'fetchApplicationPicture',
      tag,
      needs: writePermissions,
      summary: 'Reads the picture of the logo_uri again, soon; changes nothing where it was uploaded',
      params: byId,
      response: done,
      status: 202,
      async handle({ params, by }) {
        await applications.fetchPicture(params.id, by);
        return { body: { done: true as const } };
      },
    }),
  ];
}

function pictureJson(state: PictureState | undefined): z.input<typeof picture> {
  const { address = null, url = null, failure, nextTryAt } = state ?? {};
  return {
    address,
    source: state ? (url === null ? 'uploaded' : 'logo_uri') : 'none',
    url,
    failure: failure === undefined ? null : String(failure),
    next_try_at: iso(nextTryAt),
  };
}
