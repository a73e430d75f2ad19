/** The locations of the sites. The first few are close together, so that a small network makes a readable map. */
export interface City {
  readonly code: string;
  readonly name: string;
  readonly latitude: number;
  readonly longitude: number;
}

const CITY_ROWS: readonly (readonly [code: string, name: string, latitude: number, longitude: number])[] = [
  ["fra", "Frankfurt", 50.11, 8.68],
  ["ams", "Amsterdam", 52.37, 4.9],
  ["par", "Paris", 48.86, 2.35],
  ["lon", "London", 51.51, -0.13],
  ["zrh", "Zurich", 47.38, 8.54],
  ["mil", "Milan", 45.46, 9.19],
  ["vie", "Vienna", 48.21, 16.37],
  ["ber", "Berlin", 52.52, 13.41],
  ["prg", "Prague", 50.08, 14.44],
  ["waw", "Warsaw", 52.23, 21.01],
  ["cph", "Copenhagen", 55.68, 12.57],
  ["sto", "Stockholm", 59.33, 18.07],
  ["hel", "Helsinki", 60.17, 24.94],
  ["osl", "Oslo", 59.91, 10.75],
  ["dub", "Dublin", 53.35, -6.26],
  ["mad", "Madrid", 40.42, -3.7],
  ["lis", "Lisbon", 38.72, -9.14],
  ["mrs", "Marseille", 43.3, 5.37],
  ["rom", "Rome", 41.9, 12.5],
  ["ath", "Athens", 37.98, 23.73],
  ["buh", "Bucharest", 44.43, 26.1],
  ["ist", "Istanbul", 41.01, 28.98],
  ["nyc", "New York", 40.71, -74.01],
  ["ash", "Ashburn", 39.04, -77.49],
  ["chi", "Chicago", 41.88, -87.63],
  ["tor", "Toronto", 43.65, -79.38],
  ["atl", "Atlanta", 33.75, -84.39],
  ["mia", "Miami", 25.76, -80.19],
  ["dal", "Dallas", 32.78, -96.8],
  ["den", "Denver", 39.74, -104.99],
  ["sea", "Seattle", 47.61, -122.33],
  ["sjc", "San Jose", 37.34, -121.89],
  ["lax", "Los Angeles", 34.05, -118.24],
  ["mex", "Mexico City", 19.43, -99.13],
  ["bog", "Bogota", 4.71, -74.07],
  ["sao", "Sao Paulo", -23.55, -46.63],
  ["bue", "Buenos Aires", -34.6, -58.38],
  ["jnb", "Johannesburg", -26.2, 28.05],
  ["nbo", "Nairobi", -1.29, 36.82],
  ["dxb", "Dubai", 25.2, 55.27],
  ["bom", "Mumbai", 19.08, 72.88],
  ["sin", "Singapore", 1.35, 103.82],
  ["hkg", "Hong Kong", 22.32, 114.17],
  ["tpe", "Taipei", 25.03, 121.57],
  ["sel", "Seoul", 37.57, 126.98],
  ["tyo", "Tokyo", 35.68, 139.69],
  ["syd", "Sydney", -33.87, 151.21],
  ["akl", "Auckland", -36.85, 174.76],
];

export const CITIES: readonly City[] = CITY_ROWS.map(([code, name, latitude, longitude]) => ({
  code,
  name,
  latitude,
  longitude,
}));

const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Great-circle distance. */
export function kilometres(a: Omit<City, "code" | "name">, b: Omit<City, "code" | "name">): number {
  const dLat = radians(b.latitude - a.latitude);
  const dLon = radians(b.longitude - a.longitude);
  const h =
    Math.sin(dLat / 2) ** 2 +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(dLon / 2) ** 2;
  return 2 * 6371 * Math.asin(Math.sqrt(h));
}
