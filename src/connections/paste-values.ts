// The values of this server that an administrator pastes at the vendor.
import type { Connection } from './connection.ts';
import type { PasteKey } from './presets/preset.ts';
import { presetOf } from './presets/presets.ts';

export interface PasteValue {
  key: PasteKey;
  label: string;
  value: string;
}

const labels: Record<PasteKey, string> = {
  redirect_uri: 'Redirect URI',
  post_logout_redirect_uri: 'Redirect URI after sign-out',
  backchannel_logout_uri: 'Back-channel logout URL',
  frontchannel_logout_uri: 'Front-channel logout URL',
  sp_metadata_url: 'Metadata URL of this server',
  sp_entity_id: 'Entity ID of this server',
  acs_url: 'Assertion consumer service (ACS)',
  slo_url: 'Single logout service',
  server_host: 'Host of this server',
};

/** In the order of the preset. */
export function pasteValuesOf(
  { id, kind, preset, settings }: Pick<Connection, 'id' | 'kind' | 'preset'> & { settings?: object },
  issuer: string,
): PasteValue[] {
  const own = `${issuer}/upstream/${id}`;
  const entityId = settings && 'sp_entity_id' in settings ? String(settings.sp_entity_id) : undefined;
  const values: Record<PasteKey, string> = {
    redirect_uri: `${own}/callback`,
    post_logout_redirect_uri: `${own}/signed-out`,
    backchannel_logout_uri: `${own}/backchannel-logout`,
    frontchannel_logout_uri: `${own}/frontchannel-logout`,
    sp_metadata_url: `${issuer}/saml/sp/metadata`,
    sp_entity_id: entityId ?? `${issuer}/saml/sp/metadata`,
    acs_url: `${issuer}/saml/acs`,
    slo_url: `${issuer}/saml/sp/slo`,
    server_host: new URL(issuer).host,
  };
  return (presetOf(preset, kind)?.paste ?? []).map((key) => ({ key, label: labels[key], value: values[key] }));
}
