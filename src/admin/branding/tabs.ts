// The tabs of Branding.
import { t } from '../../base/texts/text.ts';
import type { ConsolePage } from '../console/blocks.ts';

export function brandTabs(current: 'look' | 'texts'): NonNullable<ConsolePage['tabs']> {
  return [
    { href: '/admin/branding', label: t('console.branding.tab.look'), isCurrent: current === 'look' },
    { href: '/admin/branding/texts', label: t('console.branding.tab.texts'), isCurrent: current === 'texts' },
  ];
}
