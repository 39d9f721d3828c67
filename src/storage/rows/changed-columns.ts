/**
 * The columns of `after` that are not as in `before`, for a compare-and-set on the version of `before`. A database works on every index
 * over a column that is set, whether its value changes or not.
 */
export function changedColumns<R extends object>(before: R, after: R): Partial<R> {
  const changed: Partial<R> = {};
  for (const column of Object.keys(after) as (keyof R)[]) {
    if (after[column] !== before[column]) changed[column] = after[column];
  }
  return changed;
}
