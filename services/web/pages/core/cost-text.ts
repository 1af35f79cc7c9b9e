// What something cost, in the unit of the prices. Pure.

/** Small sums keep two digits that say something. */
export function costText(cost: number): string {
  return cost === 0 || cost >= 1 ? cost.toFixed(2) : String(Number(cost.toPrecision(2)));
}
