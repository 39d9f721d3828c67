/** The value of a column that the row's status demands; T narrows a text whose words a CHECK of the table holds to. */
export function needed<T extends string | number>(value: string | number | null, column: string): T;
export function needed(value: string | null, column: string): string;
export function needed(value: number | null, column: string): number;
export function needed(value: string | number | null, column: string): string | number {
  if (value === null) throw new Error(`column ${column} is null although the status of its row demands it`);
  return value;
}
