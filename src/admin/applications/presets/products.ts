// The products by name.
import { mattermost, rocketChat, synapse, zammad, zoom, zulip } from './communication.ts';
import { argoCd, forgejo, gitea, gitHubEnterprise, jenkins, jupyterHub } from './development.ts';
import { homeAssistant, immich, jellyfin, paperless } from './home.ts';
import { harbor, kubernetes, minio, portainer, proxmox, vault } from './infrastructure.ts';
import { cloudflareAccess, oauth2Proxy, tailscale } from './networks.ts';
import { atlassian, dropbox, microsoft365, moodle } from './office.ts';
import { gitlab, grafana, nextcloud, wordpress } from './oidc.ts';
import type { ProductPreset } from './parts.ts';
import { aws, googleWorkspace, salesforce, slack } from './saml.ts';

export const productPresets: readonly ProductPreset[] = [
  ...[grafana, gitlab, gitea, forgejo, jenkins, argoCd, gitHubEnterprise, jupyterHub],
  ...[kubernetes, proxmox, portainer, harbor, vault, minio, oauth2Proxy, tailscale, cloudflareAccess],
  ...[immich, jellyfin, paperless, homeAssistant],
  ...[slack, mattermost, rocketChat, zulip, zoom, zammad, synapse],
  ...[nextcloud, wordpress, googleWorkspace, salesforce, aws, microsoft365, moodle, atlassian, dropbox],
];
