package website

import (
	"errors"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"
)

const issuer, audience = "https://id.example.com", "https://wiki.example.com"

var options = []jwt.ParserOption{jwt.WithIssuer(issuer), jwt.WithAudience(audience),
	jwt.WithValidMethods([]string{"ES256"}), jwt.WithExpirationRequired()}
var keys, _ = keyfunc.NewDefault([]string{issuer + "/jwks"})

func UserOf(token string) (jwt.Claims, error) {
	parsed, err := jwt.Parse(token, keys.Keyfunc, options...)
	if err == nil && parsed.Header["typ"] != "gatehouse-website+jwt" {
		err = errors.New("another kind of token")
	}
	if err != nil {
		return nil, err
	}
	return parsed.Claims, nil
}
