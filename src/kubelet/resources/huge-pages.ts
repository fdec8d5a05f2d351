import {quantityValue} from '../../api/quantity.js';
import {isHugePageResource} from '../../api/resource-list.js';
import type {ResourceList} from '../../api/types/v1-meta.js';

const SIZE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'] as const;

/**
 * Returns the page size of a resource such as `hugepages-2Mi` in the kernel's notation, `2MB`
 * (HugePageUnitSizeFromByteSize).
 */
export function hugePageSizeName(resource: string): string {
  let size = quantityValue(resource.slice('hugepages-'.length));
  let unit = 0;
  while (size >= 1024n && size % 1024n === 0n && unit < SIZE_UNITS.length - 1) {
    size /= 1024n;
    unit += 1;
  }
  return `${size}${SIZE_UNITS[unit] ?? ''}`;
}

/**
 * Returns the amount of each huge page size of the node, in bytes; 0 for sizes that the list lacks
 * (GetHugepageLimitsFromResources).
 */
export function hugePageAmounts(list: ResourceList, sizes: readonly string[]): ReadonlyMap<string, bigint> {
  const amounts = new Map(
    Object.entries(list)
      .filter(([name]) => isHugePageResource(name))
      .map(([name, quantity]) => [hugePageSizeName(name), quantityValue(quantity)]),
  );
  return new Map(sizes.map((size) => [size, amounts.get(size) ?? 0n]));
}
