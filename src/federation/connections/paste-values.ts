// The values of this server that an administrator pastes at the vendor.
import { type PageText, t } from '../../base/texts/text.ts';
import type { Connection } from './connection.ts';
import type { PasteKey } from './presets/presets.ts';
import { presetOf } from './presets/presets.ts';

export interface PasteValue {
  key: PasteKey;
  label: PageText;
  value: string;
}

const labels: Record<PasteKey, PageText> = {
  redirect_uri: t('console.connection-preset.paste.redirect-uri'),
  post_logout_redirect_uri: t('console.connection-preset.paste.post-logout-redirect-uri'),
  backchannel_logout_uri: t('console.connection-preset.paste.backchannel-logout-uri'),
  frontchannel_logout_uri: t('console.connection-preset.paste.frontchannel-logout-uri'),
  sp_metadata_url: t('console.connection-preset.paste.sp-metadata-url'),
  sp_entity_id: t('console.connection-field.sp_entity_id.label'),
  acs_url: t('console.field-section.acs.title'),
  slo_url: t('console.connection-preset.paste.slo-url'),
  server_host: t('console.connection-preset.paste.server-host'),
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
